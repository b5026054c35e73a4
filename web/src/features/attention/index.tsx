export { Attention } from "./Attention";
