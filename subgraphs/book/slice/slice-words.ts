import type { AssignmentStatus, GrantType } from '../../../schema/slice.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of assignments, as the graph's enums. */

export const GrantTypeWord = graphEnum<GrantType>('GrantType', 'What the token of an assignment does.', {
  read: 'It reads the slice.',
  collect: 'It reads the slice, and records inflows that lie within it.',
});

export const AssignmentStatusWord = graphEnum<AssignmentStatus>('AssignmentStatus', 'Whether a token opens anything.', {
  live: 'It does.',
  expired: 'Its time is over.',
  revoked: 'Its owner has ended it.',
});
