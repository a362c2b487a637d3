import { networks } from '../../../schema/network.ts';
import { classifyTransfers, type SentTransfer } from '../../../schema/reconciliation-rule.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import { OperatorFault } from '../../config/fault.ts';
import { progressBar } from '../export/progress-bar.ts';
import { TransferSource } from '../witness/monitor/chain.ts';
import { walletSigner } from '../witness/monitor/wallet.ts';
import { WatchedService } from '../witness/monitor/watched-service.ts';
import type { ReconcileOptions } from './options.ts';
import type { Reconciled } from './told.ts';
import { type CheckedUse, checkedUse } from './verified-uses.ts';

/** Reads the chain and the wallet's receipts, and holds one against the other. @throws LogAway, OperatorFault */
export async function reconcile(asked: ReconcileOptions): Promise<Reconciled> {
  const { wallet, own, url, signature_file } = asked;
  const sign = await walletSigner({ wallet, base_url: url, signature_file }, systemClock);
  const transfers = await readTransfers(asked);
  const service = new WatchedService(url);
  const jwks = await service.jwks();
  const checked: CheckedUse[] = [];
  const bar = progressBar(process.stderr, { unit: 'receipts', total: null });
  // Read last: what was paid in the last of these blocks may have its receipt by now.
  for await (const document of service.receipts(wallet, sign, -1))
    bar.show(checked.push(checkedUse(document, jwks, url)));
  bar.end();
  const uses = checked.flatMap(each => (each.kind === 'verified' ? [each.use] : []));
  return {
    asked,
    transfers: classifyTransfers(transfers, { own: new Set([wallet, ...own]), uses }),
    wrong: checked.filter(each => each.kind === 'wrong'),
  };
}

async function readTransfers({ wallet, from, to, rpc }: ReconcileOptions): Promise<SentTransfer[]> {
  const chain = new TransferSource(rpc);
  const [chain_id, newest] = await Promise.all([chain.chainId(), chain.newestBlock()]);
  if (chain_id !== networks.base.chain_id)
    throw new OperatorFault(`--rpc is a node of chain ${chain_id}, and Base is chain ${networks.base.chain_id}`);
  if (to > newest) throw new OperatorFault(`the chain has come to block ${newest}, and --to is ${to}`);
  const bar = progressBar(process.stderr, { unit: 'blocks', total: to - from + 1 });
  const read = await chain.transfers({ wallet, treasuries: null }, { from, to }, done => bar.show(done));
  bar.end();
  if (!process.stderr.isTTY) console.error(`Read ${to - from + 1} blocks: ${read.length} transfers.`);
  return read;
}
