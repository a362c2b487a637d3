declare module '@digitalbazaar/vc' {
  /** Holds a credential to the data model, without a proof. @throws Error where it is none */
  export function _checkCredential(options: { readonly credential: unknown }): void;
}
