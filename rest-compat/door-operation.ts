import type { DocumentNode } from 'graphql';
import type { z } from 'zod';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import { parseBody, parseRequest } from '../schema/requests/parse.ts';
import type { CheckedForm, Form, Plain, StreamForm } from './answer-forms.ts';
import type { RawRequest } from './door-request.ts';
import { likedForm } from './http/accept.ts';
import type { EventFrames } from './sse.ts';

/* Which operation a request of a door runs. */

export type RequestSchemas = Readonly<Record<'params' | 'query' | 'headers' | 'body', z.ZodType>>;

/** The operation that a request runs, and its variables. */
export interface AskedOperation {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  /** The body, as its schema has made it. */
  readonly valid_body: object;
  /** Of a good answer; null: the door's own. */
  readonly status: number | null;
  /** Of a subscription: how its events go out. Null where the answer comes in one piece. */
  readonly stream: StreamAsked | null;
  /** Set where the answer is asked for as bare text. */
  readonly plain: Pick<Form, 'media' | 'textOf' | 'headers'> | CheckedForm | null;
}

export interface StreamAsked {
  eventOf(data: JsonObject): Json;
  /** They go on for as long as they are read. */
  readonly live: boolean;
  readonly frames: EventFrames;
}

/** What of a row says which operation a request runs, and with which variables. */
export interface Runs<P, Q, H, B extends object> {
  readonly document: DocumentNode;
  /** Body member → the document that is run instead where it is present, null included. */
  readonly instead?: Readonly<Record<string, DocumentNode>>;
  /** What the body's `action` may be → what is run for it, and the status of its answer where that is not the door's. */
  readonly actions?: Readonly<Record<string, { readonly document: DocumentNode; readonly status?: number }>>;
  readonly stream?: StreamForm<Q, B>;
  readonly plain?: Plain<B>;
  /** By name; `form` says which of them a request asks for, and none by any other name; where it says nothing, Accept may. */
  readonly forms?: Readonly<Record<string, Form | CheckedForm>>;
  form?(asked: { query: Q; body: B }): string | undefined;
  /** The forms that Accept may choose; see `Columns`. */
  readonly by_accept?: readonly string[];
  readonly media?: string;
  /** The body with what its headers say in its place: before it is validated, so that it is validated once. */
  complete?(body: JsonObject, headers: H): JsonObject;
  /** `document`: what the request runs. */
  variables?(request: { params: P; query: Q; headers: H; body: B }, document: DocumentNode): JsonObject;
}

/** The operation that a request of a row runs. `requests`: its schemas. @throws Refusal invalid_request */
export function askedOperation<P, Q, H, B extends object>(
  row: Runs<P, Q, H, B>,
  requests: RequestSchemas,
  request: RawRequest,
): AskedOperation {
  const { document, instead = {}, actions = {}, stream, plain, forms = {}, complete, variables } = row;
  const given = {
    params: parseRequest(requests.params, request.params) as P,
    query: parseRequest(requests.query, request.query, 'query parameter') as Q,
    headers: parseRequest(requests.headers, request.headers) as H,
  };
  const body = complete?.(request.body, given.headers) ?? request.body;
  const valid_body = parseBody(requests.body, body) as B;
  const action = 'action' in valid_body ? actions[String(valid_body.action)] : undefined;
  const asked = (chosen: DocumentNode) => {
    const variables_of = variables?.({ ...given, body: valid_body }, chosen) ?? {};
    return { document: chosen, variables: variables_of, valid_body, status: action?.status ?? null };
  };
  if (stream?.asked(valid_body)) {
    const eventOf = (data: JsonObject) => stream.eventOf(data, valid_body);
    const { query } = given;
    const frames = typeof stream.frames === 'function' ? stream.frames({ query, body: valid_body }) : stream.frames;
    return { ...asked(stream.document), stream: { frames, eventOf, live: stream.live ?? false }, plain: null };
  }
  const form = row.form?.({ query: given.query, body: valid_body }) ?? likedForm(row, request.accept);
  const other = form === undefined ? undefined : forms[form];
  if (other) return { ...asked(other.document), stream: null, plain: other };
  const member = Object.keys(instead).find(name => request.body[name] !== undefined);
  return {
    ...asked(action?.document ?? ((member && instead[member]) || document)),
    stream: null,
    plain: plain?.asked(valid_body) ? plain : null,
  };
}
