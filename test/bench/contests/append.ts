import { measured } from '../child/child.ts';
import { atLeast, type Contest, perSecond, type Side } from '../contest.ts';
import type { Job } from '../servers/ledger.ts';

/** Appends receipts, leaves, rows, events and counters to one book that all callers need at once, with group commit and without. */
export const append: Contest = {
  name: 'append',
  beside: 'one transaction per row',
  lines: [{ name: 'append to one hot book, 64 callers', unit: 'rows/s', goal: atLeast(8), of: perSecond }],
  async open({ stage, quick }) {
    const ledger = await stage.ledger();
    const appending = async (way: Job['way'], count: number): Promise<Side> => {
      const job: Job = { book: await stage.emptyBook(await stage.database()), count, way };
      return {
        async round() {
          await ledger.ask('prepare', job);
          return measured([ledger], () => ledger.ask('append', job).then(() => count));
        },
      };
    };
    const [many, few] = quick ? [800, 120] : [6_000, 1_000];
    return { ours: await appending('together', many), beside: await appending('alone', few) };
  },
};
