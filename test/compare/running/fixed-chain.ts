import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { genesisCalls } from '../../../gateway/development/chain/genesis.ts';
import { rpc, rpcBatch } from '../../../gateway/development/chain/rpc.ts';
import { freePort } from '../../../gateway/development/port.ts';
import type { Json } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import { withParentDeathSignal } from '../../harness/parent-death-signal.ts';
import { BEGINS_MS } from './fixed-time.ts';

/** A Base stand-in whose blocks have the same number, time and hash in every run of the same story. */
export async function openFixedChain(folder: string) {
  const port = await freePort(null);
  const child = spawn(...withParentDeathSignal(anvil(), argumentsOf(port)), {
    stdio: 'ignore',
    env: { HOME: folder, PATH: '/usr/bin:/bin' },
  });
  const url = `http://127.0.0.1:${port}`;
  const call = <T = unknown>(method: string, ...params: Json[]) => rpc<T>(url, method, ...params);
  for (let tries = 0; tries < 200; tries++) {
    if (await call('eth_chainId').catch(() => null)) break;
    await sleep(50);
  }
  // Without this setting each block would have the time of the machine.
  await call('anvil_setBlockTimestampInterval', 0);
  await rpcBatch(url, genesisCalls());
  let seconds = Math.floor(BEGINS_MS / 1_000);
  return {
    url,
    call,
    height: async () => Number(await call<string>('eth_blockNumber')),
    /** Sets the time of the next block. */
    async tell(at_ms: number): Promise<void> {
      const next = Math.floor(at_ms / 1_000);
      if (next > seconds) await call('evm_setNextBlockTimestamp', next);
      seconds = Math.max(next, seconds);
    },
    mine: (blocks: number) => call('anvil_mine', `0x${blocks.toString(16)}`),
    async close(): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/**
 * A base fee so low that it stays constant, because EIP-1559 changes it by an eighth in whole wei. The fees that we offer then stay
 * constant too.
 */
const BASE_FEE_WEI = 7;

function argumentsOf(port: number): string[] {
  const of = {
    host: '127.0.0.1',
    port,
    'chain-id': networks.base.chain_id,
    'slots-in-an-epoch': 1,
    'gas-limit': 30_000_000,
    'base-fee': BASE_FEE_WEI,
    timestamp: BEGINS_MS / 1_000,
  };
  return ['--silent', ...Object.entries(of).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64' };

function anvil(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const inner = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  return inner.resolve(`${name}/bin/anvil`);
}
