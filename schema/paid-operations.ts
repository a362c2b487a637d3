import { actActions } from './session/act.ts';

/*
 * What a book is asked about before it is sold: each paid door by its name, with its path and the fields of the graph that
 * it sells (test/rest-compat/paid-operations.test.ts holds it to the door table). A stamp is not among them: no book is
 * asked about one.
 */
const CHAT = ['Mutation.createChatCompletion', 'Subscription.chatCompletionStream'] as const;

export const paidOperations = {
  chat_completions: { path: '/v1/chat/completions', fields: CHAT },
  a2a_message: { path: '/a2a-message', fields: CHAT },
  create_response: { path: '/v1/responses', fields: ['Mutation.createResponse', 'Subscription.responseStream'] },
  generate_image: { path: '/v1/images/generations', fields: ['Mutation.createImage'] },
  transcribe_audio: { path: '/v1/audio/transcriptions', fields: ['Mutation.createTranscription'] },
  request_task: { path: '/task-request', fields: ['Mutation.requestTask'] },
  quote_task: { path: '/task-quote', fields: ['Mutation.quoteTask'] },
} as const satisfies Record<string, { readonly path: `/${string}`; readonly fields: readonly string[] }>;

type Listed = readonly [name: string, listed: { readonly path: string; readonly fields: readonly string[] }];
const listed: readonly Listed[] = Object.entries(paidOperations);

/**
 * Every name of what a field sells, so that a call is judged alike by REST and by GraphQL: two doors that sell one field
 * are one operation. Empty for a field that no book is asked about.
 */
export function operationsOf(field: string): readonly string[] {
  return listed.filter(([, { fields }]) => fields.includes(field)).map(([name]) => name);
}

/** The same of what was bought at a URL; empty where that does not tell, as `/graphql` does not. */
export function operationsAt(url: string): readonly string[] {
  const sold = listed.find(([, { path }]) => url.endsWith(path));
  return sold ? operationsOf(sold[1].fields[0] ?? '') : [];
}

/** Names that `risk_tiers` may list. */
export const riskyOperations: readonly string[] = [...Object.keys(paidOperations), ...actActions];
