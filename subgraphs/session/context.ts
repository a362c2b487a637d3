import type { Refusal } from '../../schema/errors.ts';
import type { JudgedAct } from '../book/ledger/judge-act.ts';
import type { ChargePort } from '../charge-port.ts';
import type { Context } from '../context.ts';
import type { Live, LiveTrees } from '../live.ts';
import type { ReadEvents } from '../live-feed.ts';
import type { FreeWalletProofs, WalletProofs } from '../wallet-proofs.ts';
import type { HandOffs } from './delegation/hand-offs.ts';
import type { SessionBurn } from './delegation/session-burn.entity.ts';

/** Context of the resolvers of this subgraph. */
export interface SessionContext extends Context, ChargePort {
  readonly live: Live & LiveTrees;
  readonly wallets: WalletProofs;
  readonly free_wallets: FreeWalletProofs;
  readonly hand_offs: HandOffs;
  /** Judges an act by a book. Returns the signed refusal, which has a row, or null if the book permits the act. @throws book_damaged */
  refusalOfAct(act: JudgedAct, context: Context): Promise<Refusal | null>;
  /** One reader per process, so that equal subscriptions share reads. */
  readonly readSessionBurns: ReadEvents<string, SessionBurn>;
}
