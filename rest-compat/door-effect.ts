/**
 * What a call leaves behind: nothing that was not there before, something more, or something other than what stood. What is set,
 * decided, moved on or taken away `changes`.
 */
export type Effect = 'reads' | 'adds' | 'changes';

/** Of a row that says nothing: what takes more than GET is held to change things, so that what is forgotten errs to the safe side. */
export function usualEffect({ methods }: { readonly methods: readonly string[] }): Effect {
  return methods.every(method => method === 'GET') ? 'reads' : 'changes';
}
