import type { Refusal } from '../../schema/errors.ts';
import type { JudgedAct } from '../book/ledger/judge-act.ts';
import type { Context } from '../context.ts';
import type { Live, LiveTrees } from '../live.ts';
import type { ReadEvents } from '../live-feed.ts';
import type { Selling } from '../selling.ts';
import type { FreeWalletProofs, WalletProofs } from '../wallet-proofs.ts';
import type { HandOffs } from './delegation/hand-offs.ts';
import type { SessionBurn } from './delegation/session-burn.entity.ts';

/** What the session subgraph needs of the process beyond every subgraph's needs. */
export interface SessionContext extends Context, Selling {
  readonly live: Live & LiveTrees;
  readonly wallets: WalletProofs;
  readonly free_wallets: FreeWalletProofs;
  readonly hand_offs: HandOffs;
  /** What the book of its payer says against an act, signed, and with its row; null where it lets it pass. @throws book_damaged */
  refusalOfAct(act: JudgedAct, context: Context): Promise<Refusal | null>;
  /** One reader per process, so that equal subscribers share their reads. */
  readonly readSessionBurns: ReadEvents<string, SessionBurn>;
}
