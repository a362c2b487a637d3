import type { Columns } from '../door.ts';

const tokenTerms: Readonly<Record<Columns['slice_token'], readonly string[]>> = {
  none: [],
  whole: ['Requires the token of an assignment: `Authorization: Bearer`, or `token` in the query.'],
  instead: ['The token of a `collect` assignment (`Authorization: Bearer`) is accepted too, within its slice.'],
};

const keyTerms: Readonly<Record<Columns['ingest_key'], readonly string[]>> = {
  none: [],
  required: ['Requires the ingest key of the router book (`Authorization: Bearer`).'],
  or_session: [
    "Requires the ingest key of the router book (`Authorization: Bearer`), or possession of its agent's book.",
  ],
};

const secretTerms: Readonly<Record<Columns['board_secret'], readonly string[]>> = {
  none: [],
  ops: ["Requires the secret of the board's operators (`X-SVC-Board-Ops`)."],
  inbound: ["Requires the board's inbound secret (`X-SVC-Board-Inbound`, or `Authorization: Bearer`)."],
};

/** What an endpoint requires beside possession of a book, as sentences. */
export function credentialTerms({ slice_token, ingest_key, board_secret }: Columns): readonly string[] {
  return [...tokenTerms[slice_token], ...keyTerms[ingest_key], ...secretTerms[board_secret]];
}
