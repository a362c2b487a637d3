import { keccak_256 } from '@noble/hashes/sha3';

/* The part of `hash-wasm` that the verifier uses, for browsers: a page with a strict content security policy cannot compile WebAssembly. */

interface Keccak {
  init(): Keccak;
  update(data: Uint8Array): Keccak;
  digest(form: 'binary'): Uint8Array;
}

export async function createKeccak(bits: number): Promise<Keccak> {
  if (bits !== 256) throw new Error(`there is no Keccak of ${bits} bits here`);
  let state = keccak_256.create();
  const keccak: Keccak = {
    init() {
      state = keccak_256.create();
      return keccak;
    },
    update(data) {
      state.update(data);
      return keccak;
    },
    digest: () => state.digest(),
  };
  return keccak;
}
