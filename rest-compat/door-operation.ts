import type { DocumentNode } from 'graphql';
import type { z } from 'zod';
import type { Json, JsonObject } from '../schema/canonical-json.ts';
import { parseBody, parseRequest } from '../schema/requests/parse.ts';
import type { Form, PlainForm, StreamForm, VerifyingForm } from './answer-forms.ts';
import type { RawRequest } from './door-request.ts';
import { preferredForm } from './http/accept.ts';
import type { EventFrames } from './sse.ts';

/* Chooses the operation that a request of an endpoint runs. */

export type RequestSchemas = Readonly<Record<'params' | 'query' | 'headers' | 'body', z.ZodType>>;

/** The operation that a request runs, and its variables. */
export interface ChosenOperation {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  /** The parsed body. */
  readonly valid_body: object;
  /** Status of a successful answer. Null for that of the endpoint. */
  readonly status: number | null;
  /** How the events of a subscription are sent. Null if the answer is in one piece. */
  readonly stream: ChosenStream | null;
  /** Form of the answer if the request asks for another than JSON. */
  readonly plain: Pick<Form, 'media' | 'textOf' | 'headers'> | VerifyingForm | null;
}

export interface ChosenStream {
  eventOf(data: JsonObject): Json;
  /** True if the stream does not end. */
  readonly live: boolean;
  readonly frames: EventFrames;
}

/** Columns that choose the operation of a request and its variables. */
export interface OperationColumns<P, Q, H, B extends object> {
  readonly document: DocumentNode;
  /** The document that runs if the body has this member, even if it is null. */
  readonly instead?: Readonly<Record<string, DocumentNode>>;
  /** By the body's `action`: the document, and the status of the answer if it differs from that of the endpoint. */
  readonly actions?: Readonly<Record<string, { readonly document: DocumentNode; readonly status?: number }>>;
  readonly stream?: StreamForm<Q, B>;
  readonly plain?: PlainForm<B>;
  /**
   * Forms by name. `form` returns the name that a request asks for; an unknown name chooses none, and undefined leaves the choice to
   * Accept.
   */
  readonly forms?: Readonly<Record<string, Form | VerifyingForm>>;
  form?(request: { query: Q; body: B }): string | undefined;
  /** The forms that Accept may choose; see `Columns`. */
  readonly by_accept?: readonly string[];
  readonly media?: string;
  /** Adds members from the headers to the body before it is validated, so that it is validated once. */
  complete?(body: JsonObject, headers: H): JsonObject;
  /** `document`: the document that runs. */
  variables?(request: { params: P; query: Q; headers: H; body: B }, document: DocumentNode): JsonObject;
}

/** The operation that a request runs. @throws Refusal invalid_request */
export function chooseOperation<P, Q, H, B extends object>(
  row: OperationColumns<P, Q, H, B>,
  requests: RequestSchemas,
  request: RawRequest,
): ChosenOperation {
  const { document, instead = {}, actions = {}, stream, plain, forms = {}, complete, variables } = row;
  const given = {
    params: parseRequest(requests.params, request.params) as P,
    query: parseRequest(requests.query, request.query, 'query parameter') as Q,
    headers: parseRequest(requests.headers, request.headers) as H,
  };
  const body = complete?.(request.body, given.headers) ?? request.body;
  const valid_body = parseBody(requests.body, body) as B;
  const action = 'action' in valid_body ? actions[String(valid_body.action)] : undefined;
  const operation = (chosen: DocumentNode) => {
    const variables_of = variables?.({ ...given, body: valid_body }, chosen) ?? {};
    return { document: chosen, variables: variables_of, valid_body, status: action?.status ?? null };
  };
  if (stream?.isRequested(valid_body)) {
    const eventOf = (data: JsonObject) => stream.eventOf(data, valid_body);
    const { query } = given;
    const frames = typeof stream.frames === 'function' ? stream.frames({ query, body: valid_body }) : stream.frames;
    return { ...operation(stream.document), stream: { frames, eventOf, live: stream.live ?? false }, plain: null };
  }
  const form = row.form?.({ query: given.query, body: valid_body }) ?? preferredForm(row, request.accept);
  const other = form === undefined ? undefined : forms[form];
  if (other) return { ...operation(other.document), stream: null, plain: other };
  const member = Object.keys(instead).find(name => request.body[name] !== undefined);
  return {
    ...operation(action?.document ?? ((member && instead[member]) || document)),
    stream: null,
    plain: plain?.isRequested(valid_body) ? plain : null,
  };
}
