/*
 * What a router says that a generation has cost. Routers say dollars as a JSON number: it is read from its text, digit by
 * digit, since a float would be another amount.
 */

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;
/** An atomic unit is a millionth of a dollar, as of USDC. */
const ATOMIC_DIGITS = 6;

/** What of a generation a caller has reported and a router knows as well. */
export interface ReportedCost {
  readonly generation_id: string;
  readonly model: string;
  /** Millionths of a dollar. */
  readonly amount: bigint;
}

/** The same as the router tells it. */
export interface ToldCost {
  readonly id: string;
  readonly model: string;
  /** Dollars, as the text of a JSON number. */
  readonly total_cost: string;
}

export type CostMatch = 'matched' | 'other_generation' | 'other_model' | 'other_amount';

/**
 * Whether a router tells of a generation what was reported of it: the same id, the same model to the letter, and a cost less
 * than one atomic unit away. Of a unit's fractions, which routers tell, whoever reports has kept or dropped one.
 */
export function matchCost({ generation_id, model, amount }: ReportedCost, told: ToldCost): CostMatch {
  if (told.id !== generation_id) return 'other_generation';
  if (told.model !== model) return 'other_model';
  return isWithinOneUnit(told.total_cost, amount) ? 'matched' : 'other_amount';
}

/** False also where it is no amount. */
function isWithinOneUnit(dollars: string, atomic: bigint): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(dollars) ?? [];
  if (whole === '') return false;
  // dollars * 10^6 = digits * 10^scale
  const scale = Number(exponent) - fraction.length + ATOMIC_DIGITS;
  const unit = 10n ** BigInt(Math.max(0, -scale));
  const told = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, scale));
  const off = told - atomic * unit;
  return (off < 0n ? -off : off) < unit;
}
