import type { DocumentNode } from 'graphql';
import { z } from 'zod';
import type { BoardSecret } from '../schema/board/shared-secret.ts';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import type { ErrorCode } from '../schema/errors.ts';
import { limits } from '../schema/limits.ts';
import type { NetworkName } from '../schema/network.ts';
import { makerOf } from '../schema/requests/parse.ts';
import { PossessionMembers } from '../schema/requests/possession.ts';
import type { FaultPage } from './answer-forms.ts';
import { type ChosenOperation, chooseOperation, type OperationColumns, type RequestSchemas } from './door-operation.ts';
import type { BodyMedia, DoorRequest, RawRequest } from './door-request.ts';
import type { FaultFormName } from './fault-form.ts';
import { fieldOperation, operationVariables } from './field-operation.ts';
import type { LeftOutNulls, PaymentMethod, Port } from './port.ts';
import type { Answer } from './problem.ts';
import type { StreamedAnswer } from './streamed-answer.ts';

export type DoorMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Cache-Control of a response that must not be stored. */
export const NO_STORE = 'no-store';

export interface DoorPrice {
  /** Null if it depends on the request: the resolver makes the offer. */
  readonly amount_atomic: bigint | null;
  readonly networks: readonly NetworkName[];
  readonly stamp?: boolean;
  readonly paid_by: readonly PaymentMethod[];
}

/** Why an endpoint is no MCP tool: see faces/mcp. */
export type ToolExclusion = 'needs_secret' | 'returns_secret' | 'comes_in_pieces' | 'for_people';

/** All differences between endpoints. Where a row would need an `if`, add a column, or a rule in a subgraph. */
export interface Columns {
  /** operationId in OpenAPI, and the name of the MCP tool unless `tool` sets another. */
  readonly name: string;
  /**
   * How MCP clients see it. `daily`: in the default list, which has the tools that the specification names and those that an agent needs
   * daily. Endpoints that require or return a shared secret are no tools, because a model may repeat what it reads; nor are those whose
   * response does not end or does not fit into one message, and pages for people.
   */
  readonly tool: { readonly name?: string; readonly daily?: true } | { readonly none: ToolExclusion };
  readonly methods: readonly DoorMethod[];
  /** The largest effect of any request. */
  readonly effect: Effect;
  /** Body members with which the endpoint writes. A request with none of them only reads. Empty if all its requests have one effect. */
  readonly writes_with: readonly string[];
  /** Whether sending the same request again changes nothing further. */
  readonly idempotent: boolean;
  /** Whether its work reaches beyond the service and its records: a chain, a hub, a receiver of webhooks, or texts of other agents. */
  readonly reaches_out: boolean;
  /** In the spelling of OpenAPI: `/v1/agents/{agent_id}/book`. */
  readonly path: `/${string}`;
  /** Other paths of the same endpoint. Offers and descriptions name `path`. */
  readonly aliases: readonly `/${string}`[];
  readonly summary: string;
  /** Limits that its schemas do not state, as full sentences. */
  readonly limits: readonly string[];
  /** A small valid body for documentation. Every paid endpoint has one. */
  readonly example: JsonObject | null;
  /** Whether search engines may index its responses. */
  readonly crawled: boolean;
  readonly tags: readonly string[];
  readonly price: DoorPrice | null;
  /** When a 402 is sent: before anything else, after the check of possession, or only by the resolver. */
  readonly challenge: 'first' | 'after_possession' | 'after_state';
  /** A member of the body that makes the call free. The body is then read before the 402. */
  readonly waived_by: string | null;
  /**
   * `required`: 401 without, 403 if invalid, both with an empty body; if the path names an agent, it has to be the possession of that
   * agent.
   * `session`: like `required`, but only by a session, because a proof can be replayed by anyone who has read it.
   * `bound`: like `required`, but a proof has to be bound to this request, so that it cannot be used for another.
   * `offered`: optional; the resolver may show more with it.
   */
  readonly possession: 'none' | 'offered' | 'required' | 'session' | 'bound';
  /**
   * `whole`: requires a slice token, as bearer token or as `token` in the query. `instead`: a slice token as bearer token is accepted in
   * place of possession.
   */
  readonly slice_token: 'none' | 'whole' | 'instead';
  /** `required`: requires the key of a router book as bearer token. `or_session`: or the session of that book's agent. */
  readonly ingest_key: 'none' | 'required' | 'or_session';
  /** Requires that secret of the board, in its header; the inbound secret also as bearer token. */
  readonly board_secret: 'none' | BoardSecret;
  /** Media type of the body. A form has a file, which the parsed body names by an id. */
  readonly takes: BodyMedia;
  /** A longer body is refused without reading the rest. */
  readonly body_bytes_max: number;
  readonly status: number;
  /** For a repeated request: recognizes its data, and the status of the answer. Null if the answer is the same. */
  readonly again: { readonly status: number; is(data: JsonObject): boolean } | null;
  /** Further statuses of a successful answer, which depend on the request. */
  readonly other_statuses: readonly number[];
  readonly media: string;
  /** Whether the response may have Retry-After, the time after which it may differ. */
  readonly asks_again: boolean;
  /** Whether calls of a free endpoint count against the rate limit of their address. */
  readonly rated: boolean;
  /** Cache-Control of a successful response. It has an ETag if it may be stored. Refusals are never stored. */
  readonly cache: string;
  /** `board`: the response is kept in memory until the board changes (board-cache.ts). Null: it is made for each request. */
  readonly kept_by: 'board' | null;
  /** A member of the query that makes the response private, so that it must not be stored. */
  readonly unkept_with: string | null;
  /** True if a caller with possession may see more, so that their responses must not be stored. */
  readonly unkept_for_holders: boolean;
  readonly nulls: LeftOutNulls;
  /** Errors in addition to those that the other columns imply. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
  /** Body of the 403 if the payer's book refuses the call. Null if no book is asked. */
  readonly refusal: z.ZodType | null;
  /** One event, if the endpoint can answer with server-sent events. */
  readonly event: z.ZodType | null;
  /** Forms that Accept may choose at the endpoint's own path. An alias, or `form`, takes precedence. */
  readonly by_accept: readonly string[];
  /** All other media types of the response, as text or bytes. */
  readonly other_media: readonly string[];
  /** Form of an error by HTTP. */
  readonly faults: FaultFormName;
  /** Form of an error for clients that asked for a page. Null if there is no page. */
  readonly fault_page: FaultPage | null;
  /** True if the response is sent in pieces and its headers state the number of rows. */
  readonly in_pieces: boolean;
  /** True if the response may be a part of the whole and its headers state the size of the whole. */
  readonly says_extent: boolean;
  /** Another protocol at the same path, for bodies of its own. It may call the endpoint itself. */
  readonly face: FaceAtDoor | null;
  readonly requests: RequestSchemas;
}

/** Whether an Idempotency-Key is accepted: for free writes, except those that return a secret, which is shown only once. */
export function acceptsIdempotencyKey({ effect, price, tool }: Pick<Columns, 'effect' | 'price' | 'tool'>): boolean {
  return effect !== 'reads' && price === null && !('none' in tool && tool.none === 'returns_secret');
}

/** Another protocol at the path of an endpoint, with its own form of calls and errors. */
export interface FaceAtDoor {
  serve(door: Door, request: DoorRequest, layer: RestLayer): Promise<Answer | StreamedAnswer>;
  readonly call: z.ZodType;
  readonly fault: z.ZodType;
  /** Headers of its successful responses, as OpenAPI describes them. */
  readonly headers: Readonly<Record<string, JsonObject>>;
  /** Whether a call of this protocol receives an error of that status by HTTP too. */
  hasHttpStatus(status: number): boolean;
}

/** Source of a page: the endpoints and the port. */
export interface RestLayer {
  readonly doors: readonly Door[];
  readonly port: Port;
}

/** An endpoint that runs a GraphQL document. */
export interface DocumentDoor extends Columns {
  readonly kind: 'document';
  readonly documents: readonly DocumentNode[];
  /** @throws Refusal invalid_request, which names the parameter */
  operation(request: RawRequest): ChosenOperation;
  /** The body of the answer; a string is sent verbatim, null gives a 404. `variables`: those of its operation. */
  answer(data: JsonObject, variables?: JsonObject): Json;
}

/** An endpoint that is answered from the table or the process, without the graph. */
export interface PageDoor extends Columns {
  readonly kind: 'page';
  /** True if the response does not change while the service runs, so that it is made once. */
  readonly is_constant: boolean;
  /** Headers in addition to those that its columns imply. */
  readonly headers: Readonly<Record<string, string>>;
  page(layer: RestLayer): Json | Promise<Json>;
}

export type Door = DocumentDoor | PageDoor;

type RequiredColumn = 'name' | 'methods' | 'path' | 'summary' | 'tags' | 'response';
type DoorRow = Pick<Columns, RequiredColumn> & Partial<Omit<Columns, RequiredColumn | 'requests'>>;

/** What a row runs: a root field with the name of the row, or an operation of more than one field. */
type RowOperation =
  | {
      readonly field: string;
      /** Selection in place of `response`, if `answer` builds the response from it. */
      readonly shows?: z.ZodType;
      readonly document?: never;
    }
  | { readonly document: DocumentNode; readonly field?: never; readonly shows?: never };

interface DocumentColumns<P, Q, H, B extends object> extends DoorRow, Omit<OperationColumns<P, Q, H, B>, 'document'> {
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly headers?: z.ZodType<H>;
  readonly body?: z.ZodType<B>;
  answer?(data: JsonObject, variables?: JsonObject): Json;
}

type DocumentRow<P, Q, H, B extends object> = DocumentColumns<P, Q, H, B> & RowOperation;

const nothing = z.object({});
/** Unknown parameters are refused, because with a misspelled filter everything would be returned. */
const noQuery = z.strictObject({});

/** Body of a row that has a method with a body but no schema: the proof of possession, if the row requires one. */
const defaultBody = ({ methods, possession = 'none' }: Pick<DoorRow, 'methods' | 'possession'>): z.ZodType => {
  if (methods.every(method => method === 'GET')) return nothing;
  return possession === 'none' ? z.strictObject({}) : PossessionMembers.strict();
};

const defaults = {
  tool: {},
  writes_with: [],
  aliases: [],
  limits: [],
  example: null,
  crawled: true,
  price: null,
  challenge: 'first',
  waived_by: null,
  possession: 'none',
  slice_token: 'none',
  ingest_key: 'none',
  board_secret: 'none',
  takes: 'application/json',
  body_bytes_max: limits.small_request_bytes_max,
  status: 200,
  again: null,
  other_statuses: [],
  media: 'application/json; charset=utf-8',
  asks_again: false,
  rated: true,
  cache: NO_STORE,
  kept_by: null,
  unkept_with: null,
  unkept_for_holders: false,
  nulls: {},
  errors: [],
  refusal: null,
  event: null,
  by_accept: [],
  other_media: [],
  faults: 'problem',
  fault_page: null,
  in_pieces: false,
  says_extent: false,
  face: null,
} as const;

/** A row with default values filled in. The only root field of its operation has the alias `answer`. */
export function documentDoor<P, Q, H, B extends object>(row: DocumentRow<P, Q, H, B>): DocumentDoor {
  const {
    field: _field,
    shows: _shows,
    document: _document,
    instead = {},
    actions = {},
    stream,
    plain,
    forms = {},
    form: _form,
    params = nothing,
    query = noQuery,
    headers = nothing,
    body = defaultBody(row),
    complete,
    variables,
    answer,
    ...columns
  } = row;
  const requests = { params, query, headers, body };
  const document = operationOf(row);
  const others = [...Object.values(actions), ...Object.values(forms), ...(stream ? [stream] : [])];
  const documents = [...new Set([document, ...Object.values(instead), ...others.map(form => form.document)])];
  const runs = { ...row, document, variables: variables ?? defaultVariables(requests) };
  return {
    ...defaults,
    effect: defaultEffect(row),
    idempotent: isIdempotentByDefault(row),
    reaches_out: reachesOutByDefault(row),
    writes_with: Object.keys(instead),
    ...columns,
    other_statuses: [...new Set(Object.values(actions).flatMap(action => action.status ?? []))],
    other_media: columns.other_media ?? [...Object.values(forms), ...(plain ? [plain] : [])].map(({ media }) => media),
    kind: 'document',
    requests,
    documents,
    operation: request => chooseOperation(runs, requests, request),
    answer: answer ?? (data => data.answer ?? null),
  };
}

/**
 * Default: the members of query, body and path. For a name that occurs twice, the path takes precedence over the body, and the body over
 * the query.
 */
function defaultVariables(schemas: Omit<RequestSchemas, 'headers'>) {
  return (
    { params, query, body }: Readonly<Record<'params' | 'query' | 'body', unknown>>,
    document: DocumentNode,
  ): JsonObject =>
    operationVariables(document, [
      { schema: schemas.query, values: query as object },
      // Uses the names of the schema by which the resolver reads the body.
      { schema: makerOf(body as object) ?? schemas.body, values: body as object },
      { schema: schemas.params, values: params as object },
    ]);
}

function operationOf(row: Pick<DoorRow, 'name' | 'response'> & RowOperation): DocumentNode {
  if (row.document !== undefined) return row.document;
  const { name, field, shows = row.response } = row;
  return fieldOperation({ name, field, shows });
}

export function pageDoor(
  row: DoorRow & Pick<PageDoor, 'page'> & Partial<Pick<PageDoor, 'is_constant' | 'headers'>>,
): PageDoor {
  const requests = { params: nothing, query: nothing, headers: nothing, body: nothing };
  const derived = {
    effect: defaultEffect(row),
    idempotent: isIdempotentByDefault(row),
    reaches_out: reachesOutByDefault(row),
  };
  return { ...defaults, ...derived, is_constant: false, headers: {}, ...row, kind: 'page', requests };
}

/** What a call changes: nothing, adds something, or changes what existed. Setting, deciding, moving and removing are `changes`. */
type Effect = 'reads' | 'adds' | 'changes';

/** Default: an endpoint with a method other than GET `changes`, so that a forgotten column is on the safe side. */
function defaultEffect({ methods }: { readonly methods: readonly string[] }): Effect {
  return methods.every(method => method === 'GET') ? 'reads' : 'changes';
}

/** Default if the row states nothing. A paid call is paid for each time. */
function isIdempotentByDefault({ methods, effect, price, again }: DoorRow): boolean {
  if (price) return false;
  const by_method = methods.every(method => method === 'GET' || method === 'DELETE' || method === 'PUT');
  return by_method || effect === 'reads' || Boolean(again);
}

/** Default if the row states nothing: payments are settled on a chain, and an endpoint that can fail for want of a chain asks one. */
function reachesOutByDefault({ price, tags, errors = [] }: DoorRow): boolean {
  return Boolean(price) || tags.includes('board') || errors.includes('chain_unavailable');
}
