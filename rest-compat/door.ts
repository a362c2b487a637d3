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
import { type AskedOperation, askedOperation, type RequestSchemas, type Runs } from './door-operation.ts';
import type { BodyMedia, DoorRequest, RawRequest } from './door-request.ts';
import type { FaultFormName } from './fault-form.ts';
import { fieldOperation, operationVariables } from './field-operation.ts';
import type { LeftOutNulls, Means, Port } from './port.ts';
import type { Answer } from './problem.ts';
import type { StreamedAnswer } from './streamed-answer.ts';

export type DoorMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Cache-Control of an answer that is kept nowhere. */
export const NO_STORE = 'no-store';

export interface DoorPrice {
  /** Null where it depends on what is asked for: its offer is the resolver's to make. */
  readonly amount_atomic: bigint | null;
  readonly networks: readonly NetworkName[];
  readonly stamp?: boolean;
  readonly paid_by: readonly Means[];
}

/** Why a door is no tool of an agent: see faces/mcp. */
export type NoTool = 'needs_secret' | 'returns_secret' | 'comes_in_pieces' | 'for_people';

/** What differs between doors. A row that wants an `if` wants a column instead, or a rule in a subgraph. */
export interface Columns {
  /** operationId, and the name of its tool where `tool` names no other. */
  readonly name: string;
  /**
   * As what an MCP client is offered it. None are those that want or give a secret that two share (what a model is shown, it may
   * repeat), those whose answer has no end or does not fit into one message, and pages at which a person acts.
   */
  readonly tool: { readonly name?: string } | { readonly none: NoTool };
  readonly methods: readonly DoorMethod[];
  /** Of all that can be asked of it the most. */
  readonly effect: Effect;
  /** OpenAPI spelling: `/v1/agents/{agent_id}/book`. */
  readonly path: `/${string}`;
  /** Other spellings of the same path; the offer and the description name `path`. */
  readonly aliases: readonly `/${string}`[];
  readonly summary: string;
  /** Bounds that no member of its schemas says, in full sentences. */
  readonly limits: readonly string[];
  /** A good body in few bytes, for whoever learns by one. Every paid door has one. */
  readonly example: JsonObject | null;
  /** Whether search engines may index what lies there. */
  readonly crawled: boolean;
  readonly tags: readonly string[];
  readonly price: DoorPrice | null;
  /** When a 402 is said: before all else, behind possession, or by the resolver alone. */
  readonly challenge: 'first' | 'after_possession' | 'after_state';
  /** A member of the body in whose presence nothing is owed; to look for it the body is read before the 402. */
  readonly waived_by: string | null;
  /**
   * `required`: 401 without, 403 with a wrong one, both empty; where the path names an agent, it must be that one's.
   * `session`: the same, and by the session itself, since a proof is a proof to whoever has read it.
   * `bound`: the same, and by a proof that is bound to this request: whoever has read it can make nothing else of it.
   * `offered`: nobody has to; the resolver asks it of whoever wants to be shown more.
   */
  readonly possession: 'none' | 'offered' | 'required' | 'session' | 'bound';
  /** `whole`: opened by a slice token alone, a bearer's or the query's `token`; `instead`: a bearer's does for possession. */
  readonly slice_token: 'none' | 'whole' | 'instead';
  /** `required`: opened by the key of a router book alone, a bearer's; `or_session`: or by the session of that book's agent. */
  readonly ingest_key: 'none' | 'required' | 'or_session';
  /** Opened by that secret of the board alone: by its header, and the inbound one by a bearer, too. */
  readonly board_secret: 'none' | BoardSecret;
  /** Media type of the body; a form brings its file beside it, and the body names that by an id. */
  readonly takes: BodyMedia;
  /** A longer body is refused, unread from there on. */
  readonly body_bytes_max: number;
  readonly status: number;
  /** How an answer that tells what the same request did before is known by its data, and its status; null: told alike. */
  readonly again: { readonly status: number; is(data: JsonObject): boolean } | null;
  /** All other statuses of its good answers, where what was asked for decides. */
  readonly other_statuses: readonly number[];
  readonly media: string;
  /** Its answer may say by Retry-After when it will be another. */
  readonly asks_again: boolean;
  /** Whether a free door is bounded by address: probes of the service's own keeper are not. */
  readonly rated: boolean;
  /** Cache-Control of the answer in hand, which has an ETag where it may be kept; refusals are never stored. */
  readonly cache: string;
  /** Its answers stand until the board moves, and are not made anew before: see kept-by-board.ts. Null: each is made. */
  readonly kept_by: 'board' | null;
  /** A member of the query in whose presence an answer is the asker's own, and kept nowhere. */
  readonly unkept_with: string | null;
  /** Whoever possesses a book may be shown more than others: what they are answered is kept nowhere. */
  readonly unkept_for_holders: boolean;
  readonly nulls: LeftOutNulls;
  /** What it may answer besides what its other columns imply. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
  /** Body of the 403 by which the payer's book refuses a call; null where no book is asked. */
  readonly refusal: z.ZodType | null;
  /** One event, where the door can answer in server-sent events. */
  readonly event: z.ZodType | null;
  /** The forms that a request's Accept may choose at the door's own path; another spelling, or `form`, has chosen already. */
  readonly by_accept: readonly string[];
  /** All other media types in which it may be asked for, as text or bytes. */
  readonly other_media: readonly string[];
  /** In which form it tells a fault by HTTP. */
  readonly faults: FaultFormName;
  /** How what goes wrong is said to whoever would have been shown a page; null where nobody is shown one. */
  readonly fault_page: FaultPage | null;
  /** It comes piece by piece, and its headers say how many rows it will have. */
  readonly in_pieces: boolean;
  /** It may be a part of what there is, and its headers say of how much. */
  readonly says_extent: boolean;
  /** Answers in place of the door itself, which it may call: another face, for bodies of its own at the same path. */
  readonly face: FaceAtDoor | null;
  readonly requests: RequestSchemas;
}

/** Whether an Idempotency-Key has it done once: what writes and is not paid for, but for what hands out a secret, which is shown once. */
export function isDoneOnce({ effect, price, tool }: Pick<Columns, 'effect' | 'price' | 'tool'>): boolean {
  return effect !== 'reads' && price === null && !('none' in tool && tool.none === 'returns_secret');
}

/** Another protocol at the path of a door: its calls are bodies of a shape of their own, and their faults as well. */
export interface FaceAtDoor {
  serve(door: Door, request: DoorRequest, house: Face): Promise<Answer | StreamedAnswer>;
  readonly call: z.ZodType;
  readonly fault: z.ZodType;
  /** What its good answers bring along, as OpenAPI describes it. */
  readonly headers: JsonObject;
  /** Whether a call hears a fault of that status by HTTP, too. */
  hears(status: number): boolean;
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
  operation(request: RawRequest): AskedOperation;
  /** The body; a string goes out verbatim, null is a 404. `asked`: the variables of its operation. */
  answer(data: JsonObject, asked?: JsonObject): Json;
}

/** Made from the table or the process, without the graph. */
export interface PageDoor extends Columns {
  readonly kind: 'page';
  /** It says the same for as long as the service runs, and is made once. */
  readonly lasting: boolean;
  /** Beside those that its columns imply. */
  readonly headers: Readonly<Record<string, string>>;
  page(face: Face): Json | Promise<Json>;
}

export type Door = DocumentDoor | PageDoor;

type Required = 'name' | 'methods' | 'path' | 'summary' | 'tags' | 'response';
type Row = Pick<Columns, Required> & Partial<Omit<Columns, Required | 'requests'>>;

/** What a row runs: a root field, under the row's name, or an operation that is not made of one alone. */
type RowOperation =
  | {
      readonly field: string;
      /** Selected in place of `response`, where `answer` makes the response of it. */
      readonly shows?: z.ZodType;
      readonly document?: never;
    }
  | { readonly document: DocumentNode; readonly field?: never; readonly shows?: never };

interface DocumentColumns<P, Q, H, B extends object> extends Row, Omit<Runs<P, Q, H, B>, 'document'> {
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly headers?: z.ZodType<H>;
  readonly body?: z.ZodType<B>;
  answer?(data: JsonObject, asked?: JsonObject): Json;
}

type DocumentRow<P, Q, H, B extends object> = DocumentColumns<P, Q, H, B> & RowOperation;

const nothing = z.object({});
/** A filter that is misspelt is refused by its name: ignored, it would be answered with all that there is. */
const noQuery = z.strictObject({});

/** Of a row that takes bodies and names none: what shows possession, where that is asked for, and nothing else. */
const usualBody = ({ methods, possession = 'none' }: Pick<Row, 'methods' | 'possession'>): z.ZodType => {
  if (methods.every(method => method === 'GET')) return nothing;
  return possession === 'none' ? z.strictObject({}) : PossessionMembers.strict();
};

const usual = {
  tool: {},
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

/** A row with its usual columns filled in. The operation's one root field is aliased `answer`. */
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
    body = usualBody(row),
    complete,
    variables,
    answer,
    ...columns
  } = row;
  const requests = { params, query, headers, body };
  const document = operationOf(row);
  const others = [...Object.values(actions), ...Object.values(forms), ...(stream ? [stream] : [])];
  const documents = [...new Set([document, ...Object.values(instead), ...others.map(form => form.document)])];
  const runs = { ...row, document, variables: variables ?? usualVariables(requests) };
  return {
    ...usual,
    effect: usualEffect(row),
    ...columns,
    other_statuses: [...new Set(Object.values(actions).flatMap(action => action.status ?? []))],
    other_media: columns.other_media ?? [...Object.values(forms), ...(plain ? [plain] : [])].map(({ media }) => media),
    kind: 'document',
    requests,
    documents,
    operation: request => askedOperation(runs, requests, request),
    answer: answer ?? (data => data.answer ?? null),
  };
}

/** Of a row that says nothing: what its query, body and path say. The body goes before the query. */
function usualVariables(schemas: Omit<RequestSchemas, 'headers'>) {
  return (
    { params, query, body }: Readonly<Record<'params' | 'query' | 'body', unknown>>,
    document: DocumentNode,
  ): JsonObject =>
    operationVariables(document, [
      { schema: schemas.query, said: query as object },
      // The graph is asked in the words of the schema that its resolver reads the body by.
      { schema: makerOf(body as object) ?? schemas.body, said: body as object },
      { schema: schemas.params, said: params as object },
    ]);
}

function operationOf(row: Pick<Row, 'name' | 'response'> & RowOperation): DocumentNode {
  if (row.document !== undefined) return row.document;
  const { name, field, shows = row.response } = row;
  return fieldOperation({ name, field, shows });
}

export function pageDoor(row: Row & Pick<PageDoor, 'page'> & Partial<Pick<PageDoor, 'lasting' | 'headers'>>): PageDoor {
  const requests = { params: nothing, query: nothing, headers: nothing, body: nothing };
  return { ...usual, effect: usualEffect(row), lasting: false, headers: {}, ...row, kind: 'page', requests };
}

/**
 * What a call leaves behind: nothing that was not there before, something more, or something other than what stood. What is set,
 * decided, moved on or taken away `changes`.
 */
type Effect = 'reads' | 'adds' | 'changes';

/** Of a row that says nothing: what takes more than GET is held to change things, so that what is forgotten errs to the safe side. */
function usualEffect({ methods }: { readonly methods: readonly string[] }): Effect {
  return methods.every(method => method === 'GET') ? 'reads' : 'changes';
}
