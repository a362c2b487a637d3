import type { Database } from '../../../subgraphs/database.ts';
import { findSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import { PROVEN } from '../../charge/proof.ts';
import type { ClaimItem } from '../../charge/settle-claim.ts';
import type { ExactSvmPayload } from '../../x402/envelope.ts';
import { vouchFor } from '../facilitator/vouch.ts';
import { recheckFinalized } from '../finality.ts';
import type { Decision } from '../outcome.ts';
import type { Rail, Sent } from '../rail.ts';
import type { Settler } from '../settler.ts';
import type { SolanaPayment } from './authorization.ts';
import type { SvmChain } from './chain.ts';
import { decideSent, isOver } from './decide.ts';
import { carriedOnSolana } from './facilitated.ts';
import type { FeePayer } from './fee-payer.ts';
import { finalSolana } from './final-chain.ts';
import { meansOf } from './funds.ts';
import { Sight } from './last-seen.ts';
import { readyToPay } from './ready.ts';
import { decideByMessage } from './search.ts';
import { signedBy } from './signed-by.ts';
import { type JudgeParts, openSolanaJudge } from './verify-transaction.ts';

export interface SolanaRailParts extends JudgeParts {
  readonly database: Database;
  readonly chain: SvmChain;
  readonly chain_epoch: number;
  /** Null where a facilitator pays the fees. */
  readonly own: FeePayer | null;
  readonly settler: Settler<ClaimItem<SolanaPayment>>;
}

/** USDC on Solana, by a transaction that its payer has signed and whose fee we pay. */
export function openSolanaRail(parts: SolanaRailParts): Rail<SolanaPayment> {
  const { database, chain, chain_epoch, settler } = parts;
  const judge = openSolanaJudge(parts);
  const sight = new Sight(chain);
  const carried = carriedOnSolana(chain);
  const decide = (payment: SolanaPayment, sent: Pick<Sent, 'settlement_id' | 'from_block'>) =>
    decideIn(parts, payment, sent);
  return {
    network: 'solana',
    chain_epoch,
    settler,
    compare: judge.compare,
    verify: (payload, offered) => judge.verify(payload as ExactSvmPayload, offered),
    // Its payer has signed the transaction itself, which was judged by that.
    prove: async () => PROVEN,
    ready: (till, presented) => readyToPay(chain, till, presented),
    // Its time is the chain's blocks: none is late before the chain was asked.
    usedInTime: async () => null,
    // Whoever sent it, it was not for the claim that finds it: no answer was sealed before.
    async find(_till, payment) {
      const found = await decide(payment, { settlement_id: null, from_block: null });
      return found.kind === 'transferred' ? { ...found, by: 'third_party' } : found;
    },
    means: (till, payer) => meansOf(chain, till, payer),
    decide: (_till, payment, sent) => decide(payment, sent),
    isOver: ({ authorization }) => isOver(chain, authorization),
    vouch: (_till, payment, sent) => vouchFor(database, carried, payment, sent),
    signedBy,
    // By its genesis alone it is told from another: nothing of it has to be kept.
    look: () => sight.take(),
    age_ms: () => sight.age_ms(),
    reachable: async () => (await chain.finalized()).kind === 'ok',
    recheck: (_till, correct) => recheckFinalized(finalSolana(database, chain), correct),
    async close() {
      await settler.close();
      await chain.close();
    },
  };
}

/**
 * By what our key calls it, which is the same however often it is asked; of one that another fee payer signs, or that was
 * made for a key of ours that is gone, by what was written down, or else by its message.
 */
async function decideIn(
  { database, chain, own }: Pick<SolanaRailParts, 'database' | 'chain' | 'own'>,
  { authorization, signature }: SolanaPayment,
  { settlement_id, from_block }: Pick<Sent, 'settlement_id' | 'from_block'>,
): Promise<Decision> {
  if (own?.address === authorization.fee_payer)
    return decideSent(chain, authorization, [own.sign(signature).signature], from_block);
  const settlement = settlement_id === null ? null : await findSettlement(database, settlement_id);
  const written = settlement?.attempts.map(({ tx_hash }) => tx_hash) ?? [];
  return written.length > 0
    ? decideSent(chain, authorization, written, from_block)
    : decideByMessage(chain, authorization, from_block);
}
