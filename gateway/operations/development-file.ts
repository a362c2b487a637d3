import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { OperatorFault } from '../config/fault.ts';
import type { Config } from '../config/read-config.ts';

/*
 * DATA_DIR/development.json: what is needed for a first payment to a development service. The service writes it, and the commands for new
 * users read it. It is never written in production.
 */

type Secrets = Pick<Config, 'board_ops_secret' | 'board_inbound_secret' | 'api_keys' | 'demo_keys'>;

export interface DevelopmentFile extends Secrets {
  readonly url: string;
  readonly base_rpc_url: string;
  readonly solana_rpc_url: string | null;
  readonly usdc: Hex;
  readonly pay_to: Config['pay_to_base'];
  /** Wallets with USDC. Empty if the service was started on another chain. */
  readonly wallets: readonly { readonly address: Hex; readonly private_key: Hex }[];
  readonly solana_wallets: readonly { readonly address: string; readonly private_key: string }[];
}

const pathIn = (data_dir: string) => join(data_dir, 'development.json');

export async function writeDevelopmentFile(data_dir: string, document: DevelopmentFile): Promise<void> {
  const path = pathIn(data_dir);
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.${process.pid}`, path);
}

/** Reads the file. Null if no development service has run in this DATA_DIR. */
export async function readDevelopmentFile(data_dir: string): Promise<DevelopmentFile | null> {
  const text = await readFile(pathIn(data_dir), 'utf8').catch(() => null);
  try {
    return text === null ? null : (JSON.parse(text) as DevelopmentFile);
  } catch {
    throw new OperatorFault(`${pathIn(data_dir)} is not JSON; start the service again, which writes it anew`);
  }
}

const ANSWER_MS_MAX = 5_000;
/** The body of `/livez` of this service. */
const ALIVE = '{"status":"ok"}';

/**
 * Finds out what answers at a URL. After the service has ended, another program may have taken its port, and nothing may be signed for that
 * program.
 */
export async function probeService(url: string): Promise<'service' | 'another' | 'nobody'> {
  try {
    const answer = await fetch(`${url}/livez`, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return answer.status === 200 && (await answer.text()) === ALIVE ? 'service' : 'another';
  } catch {
    return 'nobody';
  }
}
