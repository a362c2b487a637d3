/**
 * What the page of a receipt or refusal runs: the verifier and what shows its findings, in one text that ends no script element.
 * What is built has it in itself (`development/build.ts`); sources that run as they are make it when a page is first asked for.
 */
export async function verifierProgram(): Promise<string> {
  const { pageProgram } = await import('../development/verifier-program.ts');
  return pageProgram('own-evidence');
}
