import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { networks } from '../../schema/network.ts';
import type { Config } from '../config/read-config.ts';
import type { Wallet } from './chain/accounts.ts';
import { developmentSolanaBuyers } from './svm/wallets.ts';

/** Writes DATA_DIR/development.json: all that a newcomer or a test needs to pay at once. Never written in production. */
export async function writeDevelopmentFile(config: Config, wallets: readonly Wallet[]): Promise<void> {
  const document = {
    url: config.base_url,
    base_rpc_url: config.base_rpc_url,
    solana_rpc_url: config.solana?.rpc_url ?? null,
    usdc: networks.base.usdc,
    pay_to: config.pay_to_base,
    wallets,
    solana_wallets: config.solana && !config.solana_rpc_url ? developmentSolanaBuyers : [],
    board_ops_secret: config.board_ops_secret,
    board_inbound_secret: config.board_inbound_secret,
    api_keys: config.api_keys,
    demo_keys: config.demo_keys,
  };
  const path = join(config.data_dir, 'development.json');
  await writeFile(`${path}.${process.pid}`, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.${process.pid}`, path);
}
