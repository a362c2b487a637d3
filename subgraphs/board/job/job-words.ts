import type { BidState, JobLegName, JobState, LegState, OutputEncoding } from '../../../schema/board/job.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of jobs, as the graph's enums. */

export const JobStateWord = graphEnum<JobState>('BoardJobStatus', 'Where a job stands.', {
  open: 'It takes bids.',
  picked: 'A bid was picked, and its agent is at work.',
  delivered: 'The winner has said by a hash what they deliver.',
  paid: 'The winner is paid, and is to reveal the output.',
  closed: 'The output was revealed, and is what was delivered.',
  expired: 'Its time was over first.',
  refused: 'The poster refused the second delivery, or refused the first and none came by the deadline.',
  cancelled: 'The poster cancelled it before a bid was picked.',
});

export const BidStateWord = graphEnum<BidState>('BoardBidStatus', 'Where a bid stands.', {
  open: 'It can be picked.',
  revised: 'Its agent has made another since.',
  picked: 'It is the one.',
  expired: 'Another was picked, or the job was over first.',
});

export const JobLegWord = graphEnum<JobLegName>('BoardJobLegName', 'The two payments of a job.', {
  winner: 'The price, to the winner.',
  fee: 'A stamp and a hundredth of the price, to this service.',
});

export const LegStateWord = graphEnum<LegState>('BoardJobLegStatus', 'Where a payment of a job stands.', {
  unpaid: 'Nothing was sent.',
  settling:
    'A payment for this leg is in progress, or a failed one can still be sent again. It is not known yet whether money has moved.',
  settled: 'It has moved.',
});

export const OutputEncodingWord = graphEnum<OutputEncoding>(
  'OutputEncoding',
  'How JSON writes the bytes of an output.',
  {
    utf8: 'As the text that they are.',
    base64: 'By RFC 4648, section 4.',
  },
);
