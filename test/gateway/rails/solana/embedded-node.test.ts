import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { endProcess } from '../../../../gateway/development/spawn-detached.ts';
import type { SolanaWallet } from '../../../../gateway/development/svm/wallets.ts';
import type { ProcessMark } from '../../../../gateway/operations/process-identity.ts';
import { freshChain } from '../../../harness/chain.ts';
import { freshDatabase } from '../../../harness/database.ts';
import { ask, CHAT, type Chat } from '../../../harness/doors/open-service.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../../../harness/gateway.ts';
import { solanaPayingFetch } from '../../../harness/solana/buyer.ts';
import { signerOf } from '../../../harness/svm.ts';

const run = promisify(execFile);

interface Development {
  readonly solana_rpc_url: string;
  readonly solana_wallets: readonly SolanaWallet[];
}

async function readJson<T>(gateway: RunningGateway, ...path: string[]): Promise<T> {
  return JSON.parse(await readFile(join(gateway.data_dir, ...path), 'utf8')) as T;
}

/** What anybody does who has read development.json. */
async function pay(gateway: RunningGateway): Promise<Chat> {
  const { solana_rpc_url: rpc_url, solana_wallets } = await readJson<Development>(gateway, 'development.json');
  const [wallet] = solana_wallets;
  if (!wallet) throw new Error('no wallet on Solana');
  const headers = { 'content-type': 'application/json' };
  const answer = await solanaPayingFetch({ rpc_url }, await signerOf(wallet))(gateway.url + CHAT, {
    method: 'POST',
    headers,
    body: JSON.stringify(ask()),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Chat;
}

async function environment(): Promise<GatewayOptions> {
  const [{ rpc_url, facilitator_keys }, { url }] = await Promise.all([freshChain(), freshDatabase()]);
  const variables = { DATABASE_URL: url, BASE_RPC_URL: rpc_url, FACILITATOR_KEYS: facilitator_keys.join(',') };
  return { solana: true, environment: variables };
}

describe('the embedded default', () => {
  it('is paid on Solana; its chain outlives a kill of the gateway and its own, and npm run verify knows the receipt', async () => {
    const options = await environment();
    const first = await startGateway(options);
    const { svc } = await pay(first);
    expect(svc.payment_ref).toMatch(/^solana:[1-9A-HJ-NP-Za-km-z]{80,88}$/);
    const verified = await run('npm', ['run', '-s', 'verify', '--', `${first.url}/receipt/${svc.task_id}.json`]);
    expect(verified.stdout).toContain(`Valid: task ${svc.task_id}`);

    // A new installation has nothing to complain of, from its first second on.
    expect(first.logs.filter(line => /"level":[56]0/.test(line))).toEqual([]);

    const { data_dir } = first;
    const port = Number(new URL(first.url).port);
    const chain = await readJson<{ mark: ProcessMark }>(first, 'svm', 'svm.json');
    await first.kill('SIGKILL');
    const second = await startGateway({ ...options, data_dir, port });
    expect(await readJson<{ mark: ProcessMark }>(second, 'svm', 'svm.json')).toEqual(chain);
    await pay(second);

    await second.kill('SIGKILL');
    await endProcess(chain.mark, ['SIGKILL']);
    const third = await startGateway({ ...options, data_dir, port });
    await pay(third);
    const { solana_rpc_url } = await readJson<Development>(third, 'development.json');
    const body = { jsonrpc: '2.0', id: 1, method: 'getSignatureStatuses', params: [[svc.payment_ref.slice(7)]] };
    const told = await fetch(solana_rpc_url, { method: 'POST', body: JSON.stringify(body) });
    expect(await told.json()).toMatchObject({ result: { value: [{ err: null }] } });
    expect(await third.stop()).toBe(0);
    await expect(fetch(solana_rpc_url, { method: 'POST' })).rejects.toThrow();
  });
});
