import { readConfig } from '../../../gateway/config/read-config.ts';
import { startBaseChain } from '../../../gateway/development/chain/start.ts';
import { IDLE_MS } from '../../../gateway/development/keep.ts';
import { startPostgres } from '../../../gateway/development/postgres/start.ts';
import { startDevelopment } from '../../../gateway/development/start.ts';

const [, , kind, data_dir = '', idle] = process.argv;
const idle_ms = Number(idle ?? IDLE_MS);
const named = {
  DATABASE_URL: 'postgresql://svc@127.0.0.1:1/svc',
  BASE_RPC_URL: 'http://127.0.0.1:1',
  SOLANA_RPC_URL: '',
};

/** Starts one stand-in, prints its properties, and runs until a signal. SIGTERM also stops what it started. */
const starts: Record<string, () => Promise<{ stop(): Promise<void> }>> = {
  postgres: () => startPostgres(data_dir, idle_ms),
  chain: () => startBaseChain(data_dir, { idle_ms }),
  development: () => startDevelopment(readConfig({ DATA_DIR: data_dir }), { idle_ms }),
  /** A service whose settings name every part, so that it starts no stand-in. */
  without: () => startDevelopment(readConfig({ DATA_DIR: data_dir, ...named }), { idle_ms }),
};
const start = starts[kind ?? ''];
if (!start) throw new Error(`no such stand-in: ${kind}`);
const running = await start();
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));
console.log(JSON.stringify(running, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
setInterval(() => {}, 1_000);
