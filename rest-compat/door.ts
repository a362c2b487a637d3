import type { DocumentNode } from 'graphql';
import { z } from 'zod';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import { limits } from '../schema/limits.ts';
import type { NetworkName } from '../schema/network.ts';
import { parseRequest } from '../schema/requests/parse.ts';
import type { Form, Plain, StreamForm } from './answer-forms.ts';
import type { BodyMedia, RawRequest } from './door-request.ts';
import type { LeftOutNulls, Means, Port } from './port.ts';
import type { EventFrames } from './sse.ts';

export type DoorMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Cache-Control of an answer that is kept nowhere. */
export const NO_STORE = 'no-store';

export interface DoorPrice {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  readonly stamp?: boolean;
  readonly paid_by: readonly Means[];
}

/** What differs between doors. A row that wants an `if` wants a column instead, or a rule in a subgraph. */
export interface Columns {
  /** operationId and tool name. */
  readonly name: string;
  readonly methods: readonly DoorMethod[];
  /** OpenAPI spelling: `/v1/agents/{agent_id}/book`. */
  readonly path: `/${string}`;
  /** Other spellings of the same path; the offer and the description name `path`. */
  readonly aliases: readonly `/${string}`[];
  readonly summary: string;
  readonly tags: readonly string[];
  readonly price: DoorPrice | null;
  /** When a 402 is said: before all else, behind possession, or by the resolver alone. */
  readonly challenge: 'first' | 'after_possession' | 'after_state';
  /** A member of the body in whose presence nothing is owed; to look for it the body is read before the 402. */
  readonly waived_by: string | null;
  /**
   * `required`: 401 without, 403 with a wrong one, both empty; where the path names an agent, it must be that one's.
   * `session`: the same, and by the session itself, since a proof is a proof to whoever has read it.
   * `offered`: nobody has to; the resolver asks it of whoever wants to be shown more.
   */
  readonly possession: 'none' | 'offered' | 'required' | 'session';
  /** `whole`: opened by a slice token alone, a bearer's or the query's `token`; `instead`: a bearer's does for possession. */
  readonly slice_token: 'none' | 'whole' | 'instead';
  /** Media type of the body; a form brings its file beside it, and the body names that by an id. */
  readonly takes: BodyMedia;
  /** A longer body is refused, unread from there on. */
  readonly body_bytes_max: number;
  readonly status: number;
  readonly media: string;
  /** Its answer may say by Retry-After when it will be another. */
  readonly asks_again: boolean;
  /** Whether a free door is bounded by address: probes of the service's own keeper are not. */
  readonly rated: boolean;
  /** Cache-Control of the answer in hand, which has an ETag where it may be kept; refusals are never stored. */
  readonly cache: string;
  /** A member of the query in whose presence an answer is the asker's own, and kept nowhere. */
  readonly unkept_with: string | null;
  readonly nulls: LeftOutNulls;
  /** What it may answer besides what its other columns imply. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
  /** Body of the 403 by which the payer's book refuses a call; null where no book is asked. */
  readonly refusal: z.ZodType | null;
  /** One event, where the door can answer in server-sent events. */
  readonly event: z.ZodType | null;
  /** All other media types in which it may be asked for, as text or bytes. */
  readonly other_media: readonly string[];
  /** It comes piece by piece, and its headers say how many rows it will have. */
  readonly in_pieces: boolean;
  readonly requests: Readonly<Record<'params' | 'query' | 'headers' | 'body', z.ZodType>>;
}

/** The operation that a request runs, and its variables. */
interface Operation {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  /** The body, as its schema has made it. */
  readonly valid_body: object;
  /** Of a subscription: how its events go out. Null where the answer comes in one piece. */
  readonly stream: StreamAsked | null;
  /** Set where the answer is asked for as bare text. */
  readonly plain: Pick<Form, 'media' | 'textOf'> | null;
}

export interface StreamAsked {
  eventOf(data: JsonObject): Json;
  readonly frames: EventFrames;
}

/** What a page is made of: nothing but the doors themselves and the port. */
export interface Face {
  readonly doors: readonly Door[];
  readonly port: Port;
}

/** Opened by a GraphQL document. */
export interface DocumentDoor extends Columns {
  readonly kind: 'document';
  readonly documents: readonly DocumentNode[];
  /** @throws Refusal invalid_request, with the parameter at fault. */
  operation(request: RawRequest): Operation;
  /** The body; a string goes out verbatim, null is a 404. */
  answer(data: JsonObject): Json;
}

/** Made from the table or the process, without the graph. */
export interface PageDoor extends Columns {
  readonly kind: 'page';
  /** It says the same for as long as the service runs, and is made once. */
  readonly lasting: boolean;
  page(face: Face): Json | Promise<Json>;
}

export type Door = DocumentDoor | PageDoor;

type Required = 'name' | 'methods' | 'path' | 'summary' | 'tags' | 'response';
type Row = Pick<Columns, Required> & Partial<Omit<Columns, Required | 'requests'>>;

interface DocumentRow<P, Q, H, B> extends Row {
  readonly document: DocumentNode;
  /** Body member → the document that is run instead where it is present, null included. */
  readonly instead?: Readonly<Record<string, DocumentNode>>;
  readonly stream?: StreamForm<Q, B>;
  readonly plain?: Plain<B>;
  /** By name; `form` says which of them a request asks for, and none by any other name. */
  readonly forms?: Readonly<Record<string, Form>>;
  form?(asked: { query: Q; body: B }): string;
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly headers?: z.ZodType<H>;
  readonly body?: z.ZodType<B>;
  /** The body with what its headers say in its place: before it is validated, so that it is validated once. */
  complete?(body: JsonObject, headers: H): JsonObject;
  variables?(request: { params: P; query: Q; headers: H; body: B }): JsonObject;
  answer?(data: JsonObject): Json;
}

const nothing = z.object({});

const usual = {
  aliases: [],
  price: null,
  challenge: 'first',
  waived_by: null,
  possession: 'none',
  slice_token: 'none',
  takes: 'application/json',
  body_bytes_max: limits.small_request_bytes_max,
  status: 200,
  media: 'application/json; charset=utf-8',
  asks_again: false,
  rated: true,
  cache: NO_STORE,
  unkept_with: null,
  nulls: {},
  errors: [],
  refusal: null,
  event: null,
  other_media: [],
  in_pieces: false,
} as const;

/** A row with its usual columns filled in. The document's one root field is aliased `answer` unless `answer` says more. */
export function documentDoor<P, Q, H, B extends object>(row: DocumentRow<P, Q, H, B>): DocumentDoor {
  const {
    document,
    instead = {},
    stream,
    plain,
    forms = {},
    form: _form,
    params = nothing,
    query = nothing,
    headers = nothing,
    body = nothing,
    complete,
    variables,
    answer,
    ...columns
  } = row;
  const requests = { params, query, headers, body };
  return {
    ...usual,
    ...columns,
    other_media: columns.other_media ?? [...Object.values(forms), ...(plain ? [plain] : [])].map(({ media }) => media),
    kind: 'document',
    requests,
    documents: [
      ...new Set([
        document,
        ...Object.values(instead),
        ...Object.values(forms).map(form => form.document),
        ...(stream ? [stream.document] : []),
      ]),
    ],
    operation: request => operationOf(row, requests, request),
    answer: answer ?? (data => data.answer ?? null),
  };
}

/** The operation that a request of a row runs. `requests`: its schemas. @throws Refusal invalid_request */
function operationOf<P, Q, H, B extends object>(
  { document, instead = {}, stream, plain, forms = {}, form, complete, variables }: DocumentRow<P, Q, H, B>,
  requests: Columns['requests'],
  request: RawRequest,
): Operation {
  const given = {
    params: parseRequest(requests.params, request.params) as P,
    query: parseRequest(requests.query, request.query) as Q,
    headers: parseRequest(requests.headers, request.headers) as H,
  };
  const body = complete?.(request.body, given.headers) ?? request.body;
  const valid_body = parseRequest(requests.body, body) as B;
  const asked = { variables: variables?.({ ...given, body: valid_body }) ?? {}, valid_body };
  if (stream?.asked(valid_body)) {
    const eventOf = (data: JsonObject) => stream.eventOf(data, valid_body);
    const { query } = given;
    const frames = typeof stream.frames === 'function' ? stream.frames({ query, body: valid_body }) : stream.frames;
    return { ...asked, document: stream.document, stream: { frames, eventOf }, plain: null };
  }
  const other = form && forms[form({ query: given.query, body: valid_body })];
  if (other) return { ...asked, document: other.document, stream: null, plain: other };
  const member = Object.keys(instead).find(name => request.body[name] !== undefined);
  return {
    ...asked,
    document: (member && instead[member]) || document,
    stream: null,
    plain: plain?.asked(valid_body) ? plain : null,
  };
}

export function pageDoor(row: Row & Pick<PageDoor, 'page'> & Partial<Pick<PageDoor, 'lasting'>>): PageDoor {
  const requests = { params: nothing, query: nothing, headers: nothing, body: nothing };
  return { ...usual, lasting: false, ...row, kind: 'page', requests };
}
