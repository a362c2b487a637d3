/* A page of a buyer's own tasks: how many it has, how many it may have, and how far back anybody is listed. */
export const taskListing = { usual: 50, most: 100, newest: 1_000 } as const;

/** Where a page ends: the microseconds at which its last task moved, and that task. */
export const PAGE_TOKEN = /^(\d{1,18})\.([\w-]{1,64})$/;
