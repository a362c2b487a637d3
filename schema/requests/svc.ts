import { z } from 'zod';

/**
 * What a body of paid work asks of us, beside what it asks of a model; spread into the schema of each such body. Only
 * what differs from the usual is kept, so that a call that says nothing and one that says the usual are one call.
 */
export const svcMembers = {
  svc: z
    .object({ failover: z.boolean().nullish().describe('False: fail rather than ask another hub or another model.') })
    .nullish()
    .transform(given => (given?.failover === false ? { failover: false } : undefined)),
} as const;

/** As it is kept. */
export interface SvcOptions {
  readonly svc?: { readonly failover: boolean } | undefined;
}
