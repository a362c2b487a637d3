import type { Columns } from './door.ts';

type Headed = { readonly headers: Readonly<Record<string, string>> };

/** An answer of a door, a refusal too, with the headers that hold of each of them. */
export function withDoorHeaders<A extends Headed>(
  { slice_token, by_accept }: Pick<Columns, 'slice_token' | 'by_accept'>,
  answer: A,
): A {
  const vary = [answer.headers.vary ?? [], 'accept'].flat().join(', ');
  return {
    ...answer,
    headers: {
      ...answer.headers,
      // A browser that follows a link out of an answer tells no one its URL, where that may hold a token (Referrer Policy 3.1).
      ...(slice_token === 'whole' ? { 'referrer-policy': 'no-referrer' } : {}),
      // RFC 9110 12.5.5: a cache would show a browser's page to a program.
      ...(by_accept.length === 0 ? {} : { vary }),
    },
  };
}
