/** Who may make a wallet that does not stand yet, in lower case. */
export function factoriesOf({
  wallet_factories,
}: {
  readonly wallet_factories: readonly string[];
}): ReadonlySet<string> {
  return new Set(wallet_factories.map(factory => factory.toLowerCase()));
}
