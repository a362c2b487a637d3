import { graphEnum } from '../graph-enum.ts';
import type { HostBasis, PaidWith } from './backing.ts';

/* Words that several types of this subgraph show, as the graph's enums. */

export type BoardStatus = 'published' | 'taken_down';

export const BoardStatusWord = graphEnum<BoardStatus>('BoardStatus', 'Whether what was written still stands.', {
  published: 'It stands as it was written.',
  taken_down: 'Whoever wrote it has taken it down: id and date stand, and nothing else of it.',
});

export const HostBasisWord = graphEnum<HostBasis>(
  'HostBasis',
  'Whose word it is that a receipt is of the host of a post.',
  {
    signed: 'The receipt’s own: it names the hub that answered, or is of this service itself.',
    declared: 'The poster’s: the receipt shows the payment, and not whose host it went to; or no receipt is cited.',
  },
);

export const PaidWithWord = graphEnum<PaidWith>('PaidWith', 'What was paid with.', {
  usdc: 'Atomic units of USDC: 6 decimals.',
  xno: 'Raw of XNO: 30 decimals.',
});
