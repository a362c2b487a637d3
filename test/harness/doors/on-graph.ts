import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Fetch } from '../buyer.ts';
import type { Service } from './open-service.ts';

/** An answer of /graphql, with the members that tests read. */
export interface Result<D> {
  readonly data?: D | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: JsonObject }[];
}

/** Credentials of a request on the graph: none, headers, or the session of a book. */
type CredentialValue = Readonly<Record<string, string>> | string | null;

/** Sends a document to /graphql. `data` is null if no resolver was reached. `refused` is the extensions of the first error, or null. */
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
