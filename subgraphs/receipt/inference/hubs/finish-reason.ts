/** Finish reasons of OpenAI's API. Its clients refuse or ignore any other value. */
export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;
export type FinishReason = (typeof finishReasons)[number];

/** Finish reasons of OpenAI's API, and `stop_sequence` of Anthropic's: a stop sequence of the caller ended the answer. */
export type HubFinishReason = FinishReason | 'stop_sequence';

export function finishReasonIn(reason: HubFinishReason): FinishReason;
export function finishReasonIn(reason: HubFinishReason | null): FinishReason | null;
/** Finish reason in the values of OpenAI's API, which does not distinguish `stop_sequence`. */
export function finishReasonIn(reason: HubFinishReason | null): FinishReason | null {
  return reason === 'stop_sequence' ? 'stop' : reason;
}

/** Meanings of other finish reasons that hubs send, in lower case. */
const meanings: Readonly<Record<string, HubFinishReason>> = {
  // Values of Ollama, llama.cpp, Together, TGI, Anthropic, Cohere and Gemini.
  eos: 'stop',
  eos_token: 'stop',
  end: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop_sequence',
  complete: 'stop',
  completed: 'stop',
  finish_reason_stop: 'stop',
  max_tokens: 'length',
  max_output_tokens: 'length',
  max_length: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  tool_call: 'tool_calls',
  function_calls: 'tool_calls',
  refusal: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  blocklist: 'content_filter',
  prohibited_content: 'content_filter',
  spii: 'content_filter',
  sensitive: 'content_filter',
  guardrail_intervened: 'content_filter',
};

/** Finish reasons that report an unfinished answer: values of OpenRouter, Mistral, DeepSeek, Zhipu, vLLM and SGLang. */
const unfinished: ReadonlySet<string> = new Set([
  'error',
  'insufficient_system_resource',
  'network_error',
  'abort',
  'aborted',
  'cancelled',
  'canceled',
]);

/**
 * Meaning of a hub's finish reason: `broke_off` if it reports an unfinished answer, null if it is absent or empty (Ollama sends an empty
 * text until the answer ends). An unknown reason means `stop`. Pure.
 */
export function finishReasonOf(said: string | null | undefined): HubFinishReason | 'broke_off' | null {
  if (said == null || said === '') return null;
  const word = said.toLowerCase();
  if (unfinished.has(word)) return 'broke_off';
  if (Object.hasOwn(meanings, word)) return meanings[word] ?? null;
  return finishReasons.find(reason => reason === word) ?? 'stop';
}
