import type { AgentId } from '../../schema/ids.ts';
import type { Context } from '../context.ts';
import { type Issuer } from '../receipt/issuer/signing-keys.ts';
import type { WalletProofs } from '../wallet-proofs.ts';
import type { BookEvent } from './ledger/event.entity.ts';
import type { ReadEvents } from './page/feed.ts';

/* What a resolver of this subgraph is handed beyond what all are. */

export interface BookContext extends Context {
  readonly issuer: Issuer;
  /** One reader per process, so that equal subscribers share their reads of the ledger. */
  readonly readBookEvents: ReadEvents<BookEvent>;
  readonly wallets: WalletProofs;
  /** In EIP-55 spelling; null where there is no such agent. */
  walletOfAgent(agent_id: AgentId): Promise<string | null>;
}
