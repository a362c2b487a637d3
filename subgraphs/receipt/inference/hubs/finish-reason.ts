/** Why an answer ended, in the words of OpenAI's API: its clients refuse or overlook any other. */
export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;
export type FinishReason = (typeof finishReasons)[number];

/** The same, plus what Anthropic's API distinguishes: a stop sequence of the caller ended the answer. */
export type HubFinishReason = FinishReason | 'stop_sequence';

export function finishReasonIn(reason: HubFinishReason): FinishReason;
export function finishReasonIn(reason: HubFinishReason | null): FinishReason | null;
/** In the words of OpenAI's API alone. */
export function finishReasonIn(reason: HubFinishReason | null): FinishReason | null {
  return reason === 'stop_sequence' ? 'stop' : reason;
}

/** What hubs say instead, in lower case. */
const meanings: Readonly<Record<string, HubFinishReason>> = {
  // Ollama and llama.cpp, Together, TGI, Anthropic, Cohere, Gemini.
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

/** The hub itself says that it did not finish: OpenRouter and Mistral, DeepSeek, Zhipu, vLLM and SGLang. */
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
 * The meaning of a hub's finish reason; `broke_off` if it says that the answer is not whole, and null if it says nothing (Ollama writes an
 * empty text while it goes on). An unknown reason ends an answer like any other. Pure.
 */
export function finishReasonOf(said: string | null | undefined): HubFinishReason | 'broke_off' | null {
  if (said == null || said === '') return null;
  const word = said.toLowerCase();
  if (unfinished.has(word)) return 'broke_off';
  if (Object.hasOwn(meanings, word)) return meanings[word] ?? null;
  return finishReasons.find(reason => reason === word) ?? 'stop';
}
