import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { openService } from '../harness/doors/open-service.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { ownPort } from '../harness/own-port.ts';
import { withParentDeathSignal } from '../harness/parent-death-signal.ts';
import { atEnd } from '../harness/release.ts';
import { ROOT } from '../harness/root.ts';
import { makeScratch } from '../harness/scratch.ts';

const PAGE = 'subgraphs/book/webhook/README.md';

it('the receiver on the page of webhooks takes messages, and says what is missing', async () => {
  const page = await readFile(join(ROOT, PAGE), 'utf8');
  const [, program = ''] = page.match(/```js\n([\s\S]*?)```/) ?? [];
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(23);

  const service = await openService({ NODE_ENV: 'test' });
  const { secretOf, redeliver } = webhookDoorsOf(() => service);
  const { record } = inflowDoorsOf(() => service);
  const agent = await service.newAgent();
  const port = await ownPort();
  const secret = await secretOf(agent, { url: `http://127.0.0.1:${port}/`, events: ['inflow'] });

  // Beneath the project, so that its package is found.
  const file = join(await makeScratch(), 'receiver.mjs');
  await writeFile(file, program.replace("'standardwebhooks'", JSON.stringify(import.meta.resolve('standardwebhooks'))));
  const receiver = spawn(...withParentDeathSignal(process.execPath, [file]), {
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(async () => void receiver.kill('SIGKILL'));
  const said: string[] = [];
  createInterface(receiver.stdout).on('line', line => said.push(line));
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(401);

  // Whoever breaks off ends nothing, and a letter of two bytes may come in two pieces.
  const { hostname: host } = new URL(service.url);
  const text = JSON.stringify({ id: 'msg_pieces', number: null, note: 'für' });
  const at = new Date();
  const signed = {
    'webhook-id': 'msg_pieces',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_pieces', at, text),
  };
  const bytes = Buffer.from(text);
  const half = bytes.indexOf('ü') + 1;
  const broken = request({ host, port, method: 'POST', headers: { 'content-length': 9 } }).on('error', () => {});
  broken.write('x', () => broken.destroy());
  await new Promise(resolve => broken.once('close', resolve));
  const whole = request({ host, port, method: 'POST', headers: { ...signed, 'content-length': bytes.length } });
  whole.setNoDelay(true);
  whole.write(bytes.subarray(0, half), () => setTimeout(() => whole.end(bytes.subarray(half)), 200));
  const [{ statusCode }] = await once(whole, 'response');
  expect(statusCode).toBe(204);

  const inflow = (task_id: string) => record(agent, { allocation: '5', task_id });
  const untilReceived = (count: number) => expect.poll(() => said.length).toBe(count);
  await inflow('page-1');
  await untilReceived(2);
  // One that it never gets: its number is skipped.
  await service.query('update book set webhook_messages = webhook_messages + 1 where agent_id = $1', [agent.agent_id]);
  await inflow('page-3');
  await untilReceived(3);
  await redeliver(agent, 1, 100);
  await untilReceived(5);
  expect(said[1]).toContain('nothing is missing');
  expect(said[2]).toMatch(/something is missing before position \d+/);
  receiver.kill('SIGKILL');
  await once(receiver, 'exit');
});
