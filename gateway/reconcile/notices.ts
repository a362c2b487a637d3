import { tellBid } from '../../subgraphs/board/job/tell-bid.ts';
import { tellOffer } from '../../subgraphs/book/escrow/tell-offer.ts';
import type { Tasks } from '../jobs/task.ts';

/** What the worker of jobs does for owners of books whose webhooks are told what other agents did. */
export const noticeTasks: Pick<Tasks, 'board/bid' | 'book/escrow_offer'> = {
  'board/bid': { run: ({ bid_id }, { database }) => tellBid(database, bid_id) },
  'book/escrow_offer': { run: ({ escrow_id }, { database }) => tellOffer(database, escrow_id) },
};
