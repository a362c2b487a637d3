import type { WordOf, Words } from '../words.ts';

/* Words of the board's jobs. */

export const jobStates = {
  graph: 'BoardJobStatus',
  description: 'Where a job stands.',
  meanings: {
    open: 'It takes bids.',
    picked: 'A bid was picked, and its agent is at work.',
    delivered: 'The winner has said by a hash what they deliver.',
    paid: 'The winner is paid, and is to reveal the output.',
    closed: 'The output was revealed, and is what was delivered.',
    expired: 'Its time was over first.',
    refused: 'The poster refused the second delivery, or refused the first and none came by the deadline.',
    cancelled: 'The poster cancelled it before a bid was picked.',
  },
} as const satisfies Words;
export type JobState = WordOf<typeof jobStates>;

export const jobActions = ['bid', 'pick', 'cancel', 'deliver', 'refuse', 'pay', 'challenge', 'reveal'] as const;
export type JobAction = (typeof jobActions)[number];

export const bidStates = {
  graph: 'BoardBidStatus',
  description: 'Where a bid stands.',
  meanings: {
    open: 'It can be picked.',
    revised: 'Its agent has made another since.',
    picked: 'It is the one.',
    expired: 'Another was picked, or the job was over first.',
  },
} as const satisfies Words;
export type BidState = WordOf<typeof bidStates>;

export const jobLegs = {
  graph: 'BoardJobLegName',
  description: 'The two payments of a job.',
  meanings: {
    winner: 'The price, to the winner.',
    fee: 'A stamp and a hundredth of the price, to this service.',
  },
} as const satisfies Words;
export type JobLegName = WordOf<typeof jobLegs>;

export const legStates = {
  graph: 'BoardJobLegStatus',
  description: 'Where a payment of a job stands.',
  meanings: {
    unpaid: 'Nothing was sent.',
    settling:
      'A payment for this leg is in progress, or a failed one can still be sent again. It is not known yet whether money has moved.',
    settled: 'It has moved.',
  },
} as const satisfies Words;
export type LegState = WordOf<typeof legStates>;

export const outputEncodings = {
  graph: 'OutputEncoding',
  description: 'How JSON writes the bytes of an output.',
  meanings: {
    utf8: 'As the text that they are.',
    base64: 'By RFC 4648, section 4.',
  },
} as const satisfies Words;
export type OutputEncoding = WordOf<typeof outputEncodings>;
