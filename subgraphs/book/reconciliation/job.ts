import type { Job } from '../../jobs.ts';

declare module '../../jobs.ts' {
  interface JobPayloads {
    /** Reads a few pages of a report. */
    readonly 'book/reconciliation': { readonly report_id: string };
  }
}

/** Number of reports that the whole fleet processes at once, because each sends many requests to the node. */
const QUEUES = 2;

/** Job that reads some pages of a report and adds the next job. Jobs of one queue take turns. */
export function reconciliationJob(report_id: string, delay_ms: number): Job {
  const queue = `reconciliation/${report_id.charCodeAt(report_id.length - 1) % QUEUES}`;
  return { task: 'book/reconciliation', payload: { report_id }, queue, delay_ms };
}
