import type { Refusal } from '../../schema/errors.ts';
import type { JudgedAct } from '../book/ledger/judge-act.ts';
import type { Context } from '../context.ts';
import type { Selling } from '../selling.ts';
import type { FreeWalletProofs, WalletProofs } from '../wallet-proofs.ts';
import type { HandOffs } from './delegation/hand-offs.ts';

/** What the session subgraph needs of the process beyond every subgraph's needs. */
export interface SessionContext extends Context, Selling {
  readonly wallets: WalletProofs;
  readonly free_wallets: FreeWalletProofs;
  readonly hand_offs: HandOffs;
  /** What the book of its payer says against an act, signed, and with its row; null where it lets it pass. @throws book_damaged */
  refusalOfAct(act: JudgedAct, context: Context): Promise<Refusal | null>;
}
