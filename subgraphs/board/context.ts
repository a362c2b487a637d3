import type { AgentId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { ChargePort } from '../charge-port.ts';
import type { Context } from '../context.ts';
import type { ForeignTransfers } from '../foreign-transfers.ts';
import type { Live, LiveBoard } from '../live.ts';
import type { ReadEvents } from '../live-feed.ts';
import type { HubHosts } from '../receipt/inference/hubs/hosts.ts';
import type { Issuer } from '../receipt/issuer/signing-keys.ts';
import type { PaymentIndex } from '../receipt/receipt/own-transfer.ts';
import type { WalletProofs } from '../wallet-proofs.ts';
import type { BoardEvent } from './event/board-event.entity.ts';
import type { BoardKey } from './event/read.ts';
import type { Completions } from './inbound/completions.ts';
import type { PayoutAccounts } from './job/payout-accounts.ts';

/* What resolvers of this subgraph receive beyond the common context. */

export interface BoardContext extends Context, ChargePort, HubHosts {
  readonly live: Live & LiveBoard;
  /** One reader per process, so that equal subscribers share their reads. */
  readonly readBoardEvents: ReadEvents<BoardKey, BoardEvent>;
  readonly issuer: Issuer;
  readonly wallets: WalletProofs;
  readonly payout_accounts: PayoutAccounts;
  readonly transfers: ForeignTransfers;
  /** Index of the payments in this service's receipts. Null if no feature keeps one. */
  readonly payment_index: PaymentIndex | null;
  readonly completions: Completions;
  /** Wallets to which this service is paid. */
  readonly treasuries: { readonly [network in NetworkName]?: string };
  /** Wallet of an agent, in EIP-55 spelling. Null if there is no such agent. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
}
