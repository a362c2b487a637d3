import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch } from '../../harness/buyer.ts';
import { ask, CHAT, type Service, sharedService } from '../../harness/doors/open-service.ts';
import { openSocket } from '../../harness/doors/socket.ts';
import { startNginx } from '../../harness/nginx.ts';
import { ROOT } from '../../harness/root.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let url: string;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  const page = await readFile(join(ROOT, 'docs/run.md'), 'utf8');
  const [, location = ''] = /```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  const here = location.replace('http://127.0.0.1:4000', service.url);
  expect(here).toContain(service.url);
  ({ url } = await startNginx(service.url, here));
});

describe('behind nginx as docs/run.md has it', () => {
  it('a paid chat is streamed, with its receipt before the end', async () => {
    const pay = payingFetch(agent.account);
    const body = JSON.stringify(ask('Behind a proxy', { stream: true }));
    const headers = { 'content-type': 'application/json' };
    const text = await (await pay(url + CHAT, { method: 'POST', headers, body })).text();
    expect(text).toMatch(/"svc":[^\n]*\n\ndata: \[DONE\]/);
  });

  it('rows of a book come over graphql-ws', async () => {
    const query = `subscription { bookRows(agentId: ${agent.agent_id}, after: 0) { position } }`;
    const { data } = await openSocket({ url }, { session: agent.session }).first(query);
    expect(data).toEqual({ bookRows: { position: 1 } });
  });
});
