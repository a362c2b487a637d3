import { actActions } from './session/act.ts';

/*
 * Each paid endpoint by its one name, which is that of its tool, with its path and the fields of the graph that it sells
 * (test/rest-compat/paid-operations.test.ts compares it with the table of endpoints). The name is the same by every interface and for each
 * payment of an endpoint: a grant's `doors` and a book's `risk_tiers` contain such names.
 */

interface PaidEndpoint {
  readonly path: `/${string}`;
  /** Coordinates of the paid fields. */
  readonly fields: readonly string[];
  /** The former name. Policies and sessions with that name stay valid. */
  readonly formerly?: readonly string[];
}
type PaidEndpoints = Readonly<Record<string, PaidEndpoint>>;

const CHAT = ['Mutation.createChatCompletion', 'Subscription.chatCompletionStream'] as const;

/** Operations that sell work: `risk_tiers` of a book lists these. */
export const paidOperations = {
  chat_completions: { path: '/v1/chat/completions', fields: CHAT },
  a2a_message: { path: '/a2a-message', fields: CHAT },
  create_response: { path: '/v1/responses', fields: ['Mutation.createResponse', 'Subscription.responseStream'] },
  create_message: { path: '/v1/messages', fields: ['Mutation.createMessage', 'Subscription.messageStream'] },
  generate_image: { path: '/v1/images/generations', fields: ['Mutation.createImage'] },
  create_embeddings: { path: '/v1/embeddings', fields: ['Mutation.createEmbeddings'] },
  transcribe_audio: { path: '/v1/audio/transcriptions', fields: ['Mutation.createTranscription'] },
  submit_inference: { path: '/task-request', fields: ['Mutation.requestTask'], formerly: ['request_task'] },
  quote_task: { path: '/task-quote', fields: ['Mutation.quoteTask'] },
} as const satisfies PaidEndpoints;

/**
 * Operations that cost a stamp or are paid for in two parts. `risk_tiers` does not list them. Stamps of the board reserve on the book of
 * their author, and the first payment of a job reserves for both, so the budget, the caps and the kill switch of the book apply to them.
 * A registration and an ingest reserve nothing. The former names are the fields.
 */
export const stampOperations = {
  register_agent: { path: '/v1/agents/register', fields: ['Mutation.registerAgent'], formerly: ['registerAgent'] },
  ingest_foreign_x402: {
    path: '/v1/agents/{agent_id}/book/ingest',
    fields: ['Mutation.ingestForeignSpend'],
    formerly: ['ingestForeignSpend'],
  },
  create_board_post: { path: '/v1/board/posts', fields: ['Mutation.createPost'], formerly: ['createPost'] },
  create_board_comment: {
    path: '/v1/board/posts/{id}/comments',
    fields: ['Mutation.createComment'],
    formerly: ['createComment'],
  },
  flag_board_post: { path: '/v1/board/posts/{id}/flag', fields: ['Mutation.flagPost'], formerly: ['flagPost'] },
  flag_board_comment: {
    path: '/v1/board/posts/{id}/comments/{commentId}/flag',
    fields: ['Mutation.flagComment'],
    formerly: ['flagComment'],
  },
  post_job: { path: '/v1/board/jobs', fields: ['Mutation.postJob'], formerly: ['postJob'] },
  bid_on_job: { path: '/v1/board/jobs/{id}/bid', fields: ['Mutation.bidOnJob'], formerly: ['bidOnJob'] },
  flag_job: { path: '/v1/board/jobs/{id}/flag', fields: ['Mutation.flagJob'] },
  pay_job: {
    path: '/v1/board/jobs/{id}/pay',
    fields: ['Mutation.payJob', 'Mutation.payJob.fee'],
    formerly: ['payJob'],
  },
} as const satisfies PaidEndpoints;

type NamedEndpoints = typeof paidOperations & typeof stampOperations;
/** Coordinates of all paid fields. */
export type SoldField = NamedEndpoints[keyof NamedEndpoints]['fields'][number];

const everyPaid: PaidEndpoints = { ...paidOperations, ...stampOperations };

/** Values that the `doors` of a grant may have. */
export const grantableEndpoints = Object.entries(everyPaid).map(([name, { path }]) => ({ name, path }));

const soldBy = (table: PaidEndpoints, field: string) =>
  Object.entries(table).filter(([, { fields }]) => fields.includes(field));

/** The names of all paid endpoints that sell a field. Endpoints that sell the same field are one operation. */
export function endpointsOf(field: string): readonly string[] {
  return soldBy(everyPaid, field).map(([name]) => name);
}

/** The same with the former names: a grant is compared with these. */
export function namesOfField(field: string): readonly string[] {
  return named(soldBy(everyPaid, field));
}

/**
 * Every name that `risk_tiers` may give to the operation of a field, so that REST and GraphQL calls are judged alike. Empty
 * for any other field.
 */
export function operationsOf(field: string): readonly string[] {
  return named(soldBy(paidOperations, field));
}

function named(endpoints: readonly (readonly [string, PaidEndpoint])[]): readonly string[] {
  return endpoints.flatMap(([name, { formerly = [] }]) => [name, ...formerly]);
}

/** Operations sold at a URL. Empty if the URL does not identify one, as `/graphql`. */
export function operationsAt(url: string): readonly string[] {
  const sold = Object.values<PaidEndpoint>(paidOperations).find(({ path }) => url.endsWith(path));
  return sold ? operationsOf(sold.fields[0] ?? '') : [];
}

const nameNow = new Map(
  Object.entries(everyPaid).flatMap(([name, { formerly = [] }]) => formerly.map(former => [former, name] as const)),
);

/** The current name of an endpoint. Any other name is returned unchanged. */
export function endpointName(name: string): string {
  return nameNow.get(name) ?? name;
}

/** Names that `risk_tiers` may list. */
export const riskyOperations: readonly string[] = [...Object.keys(paidOperations), ...actActions];
