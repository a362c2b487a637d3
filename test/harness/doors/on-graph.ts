import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Fetch } from '../buyer.ts';
import type { Service } from './open-service.ts';

/** What /graphql answers, as far as tests look into it. */
export interface Result<D> {
  readonly data?: D | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: JsonObject }[];
}

/** By whom a document is sent: nobody, whoever shows headers, or whoever holds the session of a book. */
type CredentialValue = Readonly<Record<string, string>> | string | null;

/**
 * Sends a document to /graphql. `data`: null where no resolver was reached; `refused`: the extensions of the first error, null
 * where there is none.
 */
export async function onGraph<D = JsonObject>(
  service: Pick<Service, 'knock'>,
  query: string,
  variables: JsonObject = {},
  shown: CredentialValue = null,
  by?: Fetch,
) {
  const headers = typeof shown === 'string' ? { 'X-SVC-Session': shown } : (shown ?? {});
  const body = { query, variables };
  const heard = await service.knock<Result<D>>('POST', '/graphql', { body, headers, ...(by && { by }) });
  const { data = null, errors } = heard.body;
  return { ...heard, data, errors, refused: errors?.[0]?.extensions ?? null };
}
