import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { Busy, Declined, NotSent, NotTransferred, Proof, Rejected, Undecided, Unknown } from '../rails/outcome.ts';
import type { Unreachable } from '../rails/rpc.ts';
import type { AnyPaid } from '../record/recorder.ts';
import { rejected } from './authorized.ts';
import type { Till } from './till.ts';

/** The money has not moved and will not by this payment: its payer may mend it or make another one. */
type PayAgain = Rejected | Declined | NotTransferred;

/** Nothing is decided about the payment: it stays usable, or may have moved already. */
type Undone = Unreachable | NotSent | Extract<Proof, { kind: 'no_turn' }> | Busy | Undecided | Unknown;

interface Heard {
  readonly code: ErrorCode;
  readonly detail?: string;
  /** False only where it is known that this payment has bought nothing, and never by this call. */
  readonly charged: false | 'unsaid';
}

/**
 * What a caller hears of each outcome that a rail may have. This table is why a 402 never follows a payment whose outcome
 * is not known: the outcomes of which it speaks have no offer, and those that have one are not in it.
 */
const heard: Record<Exclude<Undone['kind'], 'not_sent'>, Heard> = {
  /** Before anything was sent: after it an unreachable chain is `unknown`. */
  unreachable: { code: 'chain_unavailable', charged: false },
  /** The same payment may have bought something before. */
  no_turn: {
    code: 'unavailable',
    detail: 'Too many payments that only a contract can vouch for are waiting. Send this one again.',
    charged: 'unsaid',
  },
  /** The nonce is spent, and no turn in time is no word of the payment. */
  busy: { code: 'settlement_pending', charged: 'unsaid' },
  undecided: { code: 'settlement_pending', charged: 'unsaid' },
  /** It was sent, or is spent: the money may be ours, so never "pay again". */
  unknown: { code: 'settlement_pending', charged: 'unsaid' },
};

/** Of a payment that never left this process. */
const unsent: Record<NotSent['reason'], ErrorCode> = {
  chain_unavailable: 'chain_unavailable',
  facilitator_unavailable: 'facilitator_unavailable',
  fee_too_high: 'fee_too_high',
  price_unknown: 'unavailable',
  out_of_gas: 'unavailable',
  claim_lost: 'unavailable',
  journal_failed: 'unavailable',
  stopped: 'unavailable',
};

/** What a caller hears of an outcome that leaves the payment undecided or unsent: never that another one is needed. */
export function hears(outcome: Undone): Refusal {
  const { code, detail, charged }: Heard =
    outcome.kind === 'not_sent' ? { code: unsent[outcome.reason], charged: false } : heard[outcome.kind];
  const facts: JsonObject = { ...(charged === false && { charged }), ...factsOf(outcome) };
  const cause = 'cause' in outcome ? outcome.cause : undefined;
  return new Refusal(code, { ...(detail !== undefined && { detail }), facts, cause });
}

/** The same where the chain, or whoever settles, may also have said no: then it comes with the offer. */
export function hearsOf(till: Till, paid: AnyPaid, outcome: Undone | PayAgain): Refusal {
  switch (outcome.kind) {
    case 'rejected':
    case 'declined':
    case 'not_transferred':
      return rejected(till, paid, outcome.reason);
    default:
      return hears(outcome);
  }
}

function factsOf(outcome: Undone): JsonObject {
  if (outcome.kind === 'no_turn') return { retry_after_seconds: outcome.retry_after_seconds };
  return outcome.kind === 'unknown' && outcome.tx_hash ? { transaction: outcome.tx_hash } : {};
}
