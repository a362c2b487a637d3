import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { freshDatabase } from '../../../harness/database.ts';
import { startFacilitator } from '../../../harness/facilitator.ts';
import { startGateway } from '../../../harness/gateway.ts';

const run = promisify(execFile);

it('npm run demo pays through a facilitator as it pays without one', async () => {
  const chain = { rpc_url: '' };
  const facilitator = await startFacilitator({ rpc_url: () => chain.rpc_url });
  const { url: DATABASE_URL } = await freshDatabase();
  const { data_dir, url } = await startGateway({ environment: { DATABASE_URL, FACILITATOR_URL: facilitator.url } });
  const development = JSON.parse(await readFile(join(data_dir, 'development.json'), 'utf8'));
  chain.rpc_url = development.base_rpc_url;

  const health = (await (await fetch(`${url}/health`)).json()) as { stand_ins: string[] };
  expect(health.stand_ins).not.toContain('FACILITATOR_KEYS');
  const environment = { PATH: process.env.PATH, HOME: data_dir, DATA_DIR: data_dir, PORT: new URL(url).port };
  const { stdout } = await run('npm', ['run', '-s', 'demo', '--', '--verbose'], {
    env: environment,
    maxBuffer: 2 ** 24,
  });
  expect(stdout).toMatch(/^Registered the wallet, .* agent \d+/m);
  expect(stdout).toMatch(/^The row of that chat arrived live: task_/m);
  expect(stdout).toContain('"evidence": "collected"');
  expect(stdout).toContain(`  > POST ${url}/v1/chat/completions\n`);
  for (const line of [
    /^ {2}< 402 Payment Required$/m,
    /^ {2}< PAYMENT-REQUIRED: \{$/m,
    /^ {2}> PAYMENT-SIGNATURE: \{$/m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).toMatch(/^ {2}< PAYMENT-RESPONSE: \{$/m);
  expect(stdout).toMatch(/^ {2}< x-svc-verify-url: http/m);
  // Two chats and a registration.
  expect(new Set(facilitator.settlements.map(({ nonce }) => nonce)).size).toBe(3);
});
