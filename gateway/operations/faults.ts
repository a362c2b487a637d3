/** Points at which a test may end the process. Production uses none of them. */
export const faultPoints = [
  /** Inside the transaction that claims a batch, while it holds all locks. */
  'in_claim',
  'after_claim',
  'after_work',
  'in_settling',
  'after_settling',
  'after_broadcast',
  'mid_stream',
  'before_hold',
  /** The claim of a first payment has changed, and its effect is announced. Neither is committed. */
  'in_hold',
  'before_record',
  'in_record',
  'after_record',
  /** Events of books are committed, but their heads are not saved. */
  'before_book_heads',
] as const;
export type FaultPoint = (typeof faultPoints)[number];

export interface Faults {
  reach(point: FaultPoint): Promise<void>;
}
