/*
 * Cost of a generation as the router reports it. Routers send dollars as a JSON number, which is read from its text, because a
 * float would change the amount.
 */

const DECIMAL = /^(\d{1,15})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/;
/** An atomic unit is a millionth of a dollar, as for USDC. */
const ATOMIC_DIGITS = 6;

/** Members of a report that the router knows too. */
export interface ReportedCost {
  readonly generation_id: string;
  readonly model: string;
  /** Millionths of a dollar. */
  readonly amount: bigint;
}

/** The same members as the router reports them. */
export interface RouterCost {
  readonly id: string;
  readonly model: string;
  /** Dollars, as the text of a JSON number. */
  readonly total_cost: string;
}

export type CostMatch = 'matched' | 'other_generation' | 'other_model' | 'other_amount';

/**
 * Whether the router confirms a report: the same id, exactly the same model, and a cost less than one atomic unit away, because
 * reporters may round the fraction of a unit.
 */
export function matchCost({ generation_id, model, amount }: ReportedCost, told: RouterCost): CostMatch {
  if (told.id !== generation_id) return 'other_generation';
  if (told.model !== model) return 'other_model';
  return isWithinOneUnit(told.total_cost, amount) ? 'matched' : 'other_amount';
}

/** False if it is not an amount. */
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
