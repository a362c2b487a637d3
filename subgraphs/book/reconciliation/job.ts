import type { Job } from '../../jobs.ts';

declare module '../../jobs.ts' {
  interface JobPayloads {
    /** Takes a report a few pages further. */
    readonly 'book/reconciliation': { readonly report_id: string };
  }
}

/** So many reports are worked on at once in the whole fleet: each asks the chain's node for much. */
const QUEUES = 2;

/** The job that takes a report some pages further and asks for the next. Those of one queue take turns. */
export function reconciliationJob(report_id: string, delay_ms: number): Job {
  const queue = `reconciliation/${report_id.charCodeAt(report_id.length - 1) % QUEUES}`;
  return { task: 'book/reconciliation', payload: { report_id }, queue, delay_ms };
}
