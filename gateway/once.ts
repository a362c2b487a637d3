/** What is the same for whoever asks: made when it is first asked for, and kept. So is the promise of what could not be made. */
export function once<T>(make: () => T): () => T {
  let made: { readonly it: T } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
