import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { paymentFor } from '../../../harness/buyer.ts';
import { startRecorder } from '../../../harness/doors/recorder.ts';
import { openRemoteGraph } from '../../../harness/graph/remote/processes.ts';

const CHAT = '/v1/chat/completions';

it('a router key reaches the receipt subgraph sealed: on the wire to it, and to no other subgraph, is it read', async () => {
  const wires: Awaited<ReturnType<typeof startRecorder>>[] = [];
  const service = await openRemoteGraph({
    remote: ['receipt'],
    async between(url) {
      const wire = await startRecorder(url);
      wires.push(wire);
      return wire.base_url.replace(/\/$/, '');
    },
    routed: true,
  });
  const key = `sk-caller-${randomBytes(16).toString('hex')}`;
  const payer = await service.chain.newWallet();
  const answer = await fetch(service.url + CHAT, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-Router-Key': key,
      ...(await paymentFor(payer, service.url + CHAT)),
    },
    body: JSON.stringify({ model: 'router/some/model', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect([answer.status, answer.headers.get('x-svc-hub')]).toEqual([200, 'router']);
  expect(service.hub.requests.at(-1)).toMatchObject({
    headers: { authorization: `Bearer ${key}` },
    body: { model: 'some/model' },
  });
  const seen = wires.flatMap(wire => wire.take()).map(({ bytes }) => bytes);
  expect(seen.length).toBeGreaterThan(0);
  const told = seen.flatMap(bytes => bytes.match(/x-svc-call: [\w-]+/gi) ?? []).map(header => header.slice(12));
  expect(told.length).toBeGreaterThan(0);
  const calls = told.map(header => Buffer.from(header, 'base64url').toString());
  expect(calls.some(call => call.includes('"router_key_box"'))).toBe(true);
  for (const text of [...seen, ...calls, ...service.gateway.logs, ...(service.running.get('receipt')?.logs ?? [])])
    expect(text).not.toContain(key);
});
