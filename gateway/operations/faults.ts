/** Points at which a test may end the process. In service there are no faults, and nothing is asked at any of them. */
export const faultPoints = [
  /** In the midst of a transaction, with all in hand that a batch locks. */
  'in_claim',
  'after_claim',
  'after_work',
  'in_settling',
  'after_settling',
  'after_broadcast',
  'mid_stream',
  'before_hold',
  /** The claim of a first payment has changed, and what is paid for has been told; neither is committed. */
  'in_hold',
  'before_record',
  'in_record',
  'after_record',
  /** Events of books are committed, and their heads are not saved. */
  'before_book_heads',
] as const;
export type FaultPoint = (typeof faultPoints)[number];

export interface Faults {
  reach(point: FaultPoint): Promise<void>;
}
