/** Kinds of work that is paid for: the specification's. */
export const jobKinds = [
  'completions',
  'scrape',
  'review',
  'swap',
  'research',
  'acp_job',
  'router_broadcast',
  'other',
] as const;
