declare module 'solc' {
  const solc: { compile(standard_json_input: string): string };
  export default solc;
}
