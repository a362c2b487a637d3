declare module '@digitalbazaar/vc' {
  /** Checks a credential against the data model, without checking its proof. @throws Error if it does not conform */
  export function _checkCredential(options: { readonly credential: unknown }): void;
}
