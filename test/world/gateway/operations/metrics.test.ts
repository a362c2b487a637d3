import { spawnSync } from 'node:child_process';
import { createClient } from 'graphql-ws';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { makePayment } from '../../../harness/doors/make-payment.ts';
import { ask, CHAT, openService } from '../../../harness/doors/open-service.ts';
import { atEnd } from '../../../harness/release.ts';

it("GET /metrics passes promtool's lint, with a sample in every family that calls and sockets make", async () => {
  const service = await openService();
  const { agent_id, session } = await service.newAgent();
  const socket = createClient({
    url: `${service.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { session },
  });
  atEnd(() => socket.dispose());
  const rows = socket.iterate({ query: `subscription { bookRows(agentId: ${agent_id}) { position } }` });
  const first = rows.next();
  const paying = async () => (await makePayment(service, await service.chain.newWallet())).headers;
  const bought = { ...(await paying()), 'X-SVC-Session': session };
  const statuses = [await service.post(CHAT, ask()), await service.post(CHAT, ask('a row'), bought)];
  statuses.push(await service.post(CHAT, ask('a row'), bought), await service.post(CHAT, ask('another'), bought));
  for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
  statuses.push(await service.post(CHAT, ask('no answer'), await paying()));
  expect(statuses.map(({ status }) => status)).toEqual([402, 200, 200, 409, 502]);
  expect((await first).done).toBe(false);

  const text = await (await fetch(`${service.url}/metrics`)).text();
  for (const family of ['svc_paid_calls_total', 'svc_hub_failures_total', 'svc_socket_deliveries_total'])
    expect(text).toMatch(new RegExp(`^${family}[ {]`, 'm'));
  const linted = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect({ error: linted.error, said: linted.stdout + linted.stderr, status: linted.status }).toEqual({
    error: undefined,
    said: '',
    status: 0,
  });
});
